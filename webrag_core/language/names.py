"""English names of languages, for messages: of all that are detected, and of some more that pages declare."""

from __future__ import annotations

_NAMES = """
af Afrikaans|als Alemannic|am Amharic|an Aragonese|ar Arabic|arz Egyptian Arabic|as Assamese|ast Asturian|av Avar
az Azerbaijani|azb South Azerbaijani|ba Bashkir|bar Bavarian|bcl Central Bikol|be Belarusian|bg Bulgarian|bh Bihari
bn Bengali|bo Tibetan|bpy Bishnupriya|br Breton|bs Bosnian|bxr Buryat|ca Catalan|cbk Chavacano|ce Chechen|ceb Cebuano
ckb Central Kurdish|co Corsican|cs Czech|cv Chuvash|cy Welsh|da Danish|de German|diq Zazaki|dsb Lower Sorbian
dty Doteli|dv Divehi|el Greek|eml Emilian-Romagnol|en English|eo Esperanto|es Spanish|et Estonian|eu Basque|fa Persian
fi Finnish|fil Filipino|fo Faroese|fr French|frr North Frisian|fy West Frisian|ga Irish|gd Scottish Gaelic|gl Galician
gn Guarani|gom Goan Konkani|gu Gujarati|gv Manx|ha Hausa|he Hebrew|hi Hindi|hif Fiji Hindi|hr Croatian
hsb Upper Sorbian|ht Haitian Creole|hu Hungarian|hy Armenian|ia Interlingua|id Indonesian|ie Interlingue|ig Igbo
ilo Ilocano|io Ido|is Icelandic|it Italian|ja Japanese|jbo Lojban|jv Javanese|ka Georgian|kk Kazakh|km Khmer
kn Kannada|ko Korean|krc Karachay-Balkar|ku Kurdish|kv Komi|kw Cornish|ky Kyrgyz|la Latin|lb Luxembourgish|lez Lezgian
li Limburgish|lmo Lombard|lo Lao|lrc Northern Luri|lt Lithuanian|lv Latvian|mai Maithili|mg Malagasy|mhr Meadow Mari
mi Māori|min Minangkabau|mk Macedonian|ml Malayalam|mn Mongolian|mr Marathi|mrj Hill Mari|ms Malay|mt Maltese
mwl Mirandese|my Burmese|myv Erzya|mzn Mazanderani|nah Nahuatl|nap Neapolitan|nb Norwegian Bokmål|nds Low German
ne Nepali|new Newar|nl Dutch|nn Norwegian Nynorsk|no Norwegian|oc Occitan|or Odia|os Ossetian|pa Punjabi
pam Kapampangan|pfl Palatine German|pl Polish|pms Piedmontese|pnb Western Punjabi|ps Pashto|pt Portuguese|qu Quechua
rm Romansh|ro Romanian|ru Russian|rue Rusyn|rw Kinyarwanda|sa Sanskrit|sah Yakut|sc Sardinian|scn Sicilian|sco Scots
sd Sindhi|sh Serbo-Croatian|si Sinhala|sk Slovak|sl Slovene|so Somali|sq Albanian|sr Serbian|su Sundanese|sv Swedish
sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai|tk Turkmen|tl Tagalog|tr Turkish|tt Tatar|tyv Tuvan|ug Uyghur
uk Ukrainian|ur Urdu|uz Uzbek|vec Venetian|vep Veps|vi Vietnamese|vls West Flemish|vo Volapük|wa Walloon|war Waray
wuu Wu Chinese|xal Kalmyk|xh Xhosa|xmf Mingrelian|yi Yiddish|yo Yoruba|yue Cantonese|zh Chinese|zu Zulu
"""
_BY_CODE = dict(entry.split(" ", 1) for entry in _NAMES.strip().replace("\n", "|").split("|"))


def language_name(code: str) -> str:
    """The language's English name; `the language xx` for a rarer one."""
    return _BY_CODE.get(code, f"the language {code}")
