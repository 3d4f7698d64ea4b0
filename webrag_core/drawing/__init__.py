"""Pictures of data as SVG: figures made of shapes, a few charts, and the template and style sheet that write them.

Whoever has data makes a figure of it here; pages, files and the UI show the same one. Each figure has its data as a
table beside it. SVG by a template needs nothing to be installed, scales, takes the colours of the page around it, in
light and dark, holds real text, and passes the content policy of the pages. A plotting library would weigh 50 MB or
more and give images that can none of this.
"""
