"""Abbreviations that are written with a full stop, by language, and how likely a sentence ends with them."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

Kind = Literal["inside", "before_number", "doubtful", "last"]
"""`inside`: a sentence goes on behind it (Dr., e.g.). `before_number`: it goes on before a number (No. 7).
`doubtful`: it ends there if a word follows that begins sentences (U.S., 5 Mio.). `last`: it ends before a capital
(etc.)."""

_COMMON = """
inside dr mr mrs ms messrs prof gen col lt capt cpt sgt adm rev hon gov sen rep supt asst assoc mt e.g i.e cf viz vs
 approx esp incl excl resp a.k.a d.h z.b vgl bzw ph fig figs eq
before_number no nos nr nrs art arts sec secs ch chap vol vols p pp par para paras eqs ex pt ed app tab tel fax ext
 est cl reg sched jan feb mar apr may jun jul aug sep sept oct okt nov dec dez mon tue tues wed thu thur thurs fri sat
 sun min max ver op circa s ss c ca v rev § fol n
doubtful inc ltd co corp bros jr sr st ste ave blvd rd dept univ assn govt al eds u.s u.k u.n e.u d.c b.c a.d ph.d m.d
 mio mrd
last etc a.m p.m
"""
_BY_LANGUAGE = {
    "ar": "inside د أ م ا\nbefore_number ص ج ط",
    "cs": """
inside ing mgr bc mudr judr phdr rndr paeddr mvdr thdr doc plk pplk mjr kpt por sv např tzv tj tzn resp popř příp mj
 kupř cca vč zejm ul nám nábř spol zn vyd překl vs odb roz
before_number č čís odst písm čl str roč obr tab kap tel zák sb hod
doubtful tis mil mld s.r.o a.s n.l př
last atd apod aj
""",
    "da": """
inside hr fr f.eks bl.a jf jvf ca evt inkl ekskl sml pga mht ifm ift iht vedr ang dvs pr kgl skt sct adm afd alm fhv
 nuv tidl opr ca stud cand mag
before_number stk kap bd tlf pkt kl
doubtful mia m.m m.fl m.v o.l f.kr e.kr kr
last osv
""",
    "de": """
inside hr fr dipl ing mag st z.t u.u d.i ggf ggfs inkl exkl zzgl abzgl evtl sog bspw i.d.r i.v.m i.s.d ca max min mind
 insb insbes gem lt einschl ausschl zit zzt z.zt hl hrsg bearb geb gest verh entspr allg ehem dt engl frz lat griech
 ital östl westl nördl südl kath ev städt staatl abt bez betr bes eigtl jur med phil rer nat sen jun vors verf zb u.a.m
 ges m.e s.o s.u o.g u.g
before_number abs ziff abb kap bd rn rdnr rz lit aufl jg anm pkt std hs bl abschn anl alt
doubtful tsd bio str jh jhd jhdt v.chr n.chr e.v a.d i.r u.a u.ä o.ä a.m a.g chr kg
last usw uvm u.v.m
""",
    "el": """
inside κ κα κκ κος δρ καθ π.χ δηλ βλ πρβλ αγ λεωφ χλμ στρ γεν
before_number τηλ αρ αριθ άρθ αρθ σελ παρ εδ εικ κεφ τομ στοιχ ν
doubtful μ.χ εκατ δισ χιλ α.ε η.π.α ο.ε
last κ.λπ κλπ κτλ κ.ά κ.τ.λ μ.μ π.μ
""",
    "en": "inside tbsp tsp\ndoubtful maj",
    "es": """
inside sra sres sras srta srtas dña dn dra drs lic arq gral cap cnel tte excmo excma ilmo ilma fr sto sta p.ej ej vid
 aprox avda av admón dpto depto pdte ud uds vd vds ee ff aa cc oo rr hh ing d dr
before_number ene abr ago dic núm nº pág págs cap tfno
doubtful uu s.a s.l cía a.c d.c ee.uu
""",
    "et": "inside nt jne hr pr lk vt sh st dr\nbefore_number nr lk tel\ndoubtful mln mld eKr\nlast jne jms",
    "fi": """
inside esim ks vrt nk ns tri dos fil maist toim suom engl ruots saks mm l t
before_number nro puh klo kpl
doubtful milj mrd eaa jaa ekr jkr
last jne yms ym tms
""",
    "fr": """
inside m mm mme mmes mlle mlles pr me mgr env p.ex c.-à-d boul bd adj av
before_number janv févr avr juil déc tél éd al t tome
doubtful j.-c s.a ste
last
""",
    "hi": "inside डॉ प्रो श्री कु रु सु मो पं स्व ई पू ए बी सी डी एफ एच एल एम एन पी आर एस टी यू वी\nbefore_number सं पृ",
    "hr": """
inside npr tzv tj odn sv ul gđa mr dipl ing str god
before_number br čl st toč str sl tel
doubtful tis mil mlrd d.o.o d.d
last itd
""",
    "hu": """
inside ifj id özv szt pl ill ún vö kb dr ti ford szerk
before_number sz old bek tel
doubtful kft zrt bt nyrt
last stb
""",
    "id": "inside dr ir drs dra jl tn ny prof hj kh\nbefore_number no hlm tel\nlast dll dsb",
    "it": """
inside sig sigg sig.ra dott dott.ssa prof.ssa avv arch geom rag on ten mons es cfr v.le p.zza c.so cd spett egr gent ill
 s ss rev ing pres
before_number genn febb magg giu lug ag sett ott dic artt nn pag pagg capp co lett sez all d.lgs d.l d.p.r cap n l
doubtful s.p.a s.r.l a.c d.c
last ecc
""",
    "nl": """
inside dhr mevr mw drs ir ing mr ds bijv incl excl vgl o.a m.n t.a.v i.p.v d.w.z m.b.t t.o.v o.l.v n.a.v i.v.m evt zgn
 zg ong m.u.v t.w.v t.g.v a.h.w wnd
before_number febr mrt blz hfst afb lid dl jg
doubtful e.a e.d mln mld n.v b.v v.chr n.chr a.s j.l
last enz
""",
    "no": """
inside hr fr f.eks bl.a jf jfr ca evt inkl ekskl pga mht dvs pr kgl st adm avd iht ifm ang cand mag
before_number kap bd tlf pkt kl
doubtful mia m.m m.fl mill mrd f.kr e.kr kr
last osv
""",
    "pl": """
inside hab inż mgr lek doc płk ppłk mjr kpt por ppor sierż ks bp abp kard św śp ul al pl os im np m.in tzn tzw tj wg ok
 zob ww ds ob pt płd płn wsch zach śr woj pow gm red tow prok adw mec reż przew dyr zw marsz kom nadkom podkom asp insp
 sp ang niem łac franc ros ur zm zast dot ewent
before_number ust pkt poz str rys rozdz lit godz zał par
doubtful tys mln mld zł proc n.e p.n.e o.o s.a r w
last itp itd
""",
    "pt": """
inside aprox sra srs sras srta dra drs profa eng enga arq exmo exma ilmo p.ex av pe sto sta cel cap ten gov dep d dr des
before_number fev abr ago núm pág págs inc tel nº cap
doubtful ltda s.a cia a.c d.c e.u.a lda
last
""",
    "ro": """
inside dl d-l dna d-na ing conf lect asist av sf str șos bd bul cca aprox jud mun ex p.ex
before_number alin lit pct pag cap
doubtful mil mld î.hr d.hr s.a s.r.l
last ș.a ş.a
""",
    "ru": """
inside ул пр-т просп пер пл наб корп им св проф акад доц д-р тов т.е т.к т.н напр см ср англ нем фр лат греч итал исп
 род ум ген полк кап и.о ок гр букв яз прим ред сост пер проч г-н г-жа
before_number рис табл стр пп гл разд изд тел п с ст ч т кн вып
doubtful тыс млн млрд трлн руб коп чел гг вв н.э обл г в кг
last т.д т.п др пр
""",
    "sl": """
inside npr t.i tj oz ga dr mag sv ul
before_number št čl str tel
doubtful tis mio mrd d.o.o d.d
last itd ipd
""",
    "sv": """
inside t.ex bl.a dvs d.v.s ca jfr jmf s.k f.d fr.o.m t.o.m inkl exkl hr doc ung enl
before_number kap sid bd kl
doubtful m.m m.fl milj mrd kr tkr e.kr f.kr
last osv
""",
    "tr": """
inside doç av yrd arş gör öğr uz müh alb kur yzb tğm org korg sn hz bkz örn yak çev haz yay mah cad sok apt blv
before_number sf md
doubtful t.c a.ş şti vd
last vb vs
""",
    "uk": """
inside вул просп пров пл наб ім св проф акад доц напр див т.зв англ нім лат ред ст
before_number рис табл стор гл розд вид тел п с
doubtful тис млн млрд грн рр н.е обл м
last т.д т.п ін
""",
    "vi": "inside tp ts gs pgs ths ks bs q p đ tt tx\nlast v.v",
}
_SAME = {"nb": "no", "nn": "no", "sk": "cs", "bs": "hr", "sr": "hr", "gl": "es", "ca": "es", "be": "ru", "bg": "ru"}


@lru_cache(maxsize=64)
def abbreviations(language: str | None) -> dict[str, Kind]:
    """The abbreviations of a language (ISO 639) by their lower-case letters without the last full stop, with those of
    English, which stand anywhere; of all languages for None. Where two languages differ the own one counts."""
    if language is None:
        results: dict[str, Kind] = {}
        for words in _BY_LANGUAGE.values():
            for word, kind in _read(words).items():
                results.setdefault(word, kind)
        return results | _read(_COMMON)
    return _read(_COMMON) | _read(_BY_LANGUAGE.get(_SAME.get(language, language), ""))


def _read(lists: str) -> dict[str, Kind]:
    results: dict[str, Kind] = {}
    kind: Kind = "inside"
    for word in lists.split():
        if word in ("inside", "before_number", "doubtful", "last"):
            kind = word  # type: ignore[assignment]
        else:
            results[word] = kind
    return results
