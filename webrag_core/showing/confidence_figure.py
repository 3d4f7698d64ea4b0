"""Calibration: how sure answers were, against what people said of them."""

from __future__ import annotations

from webrag_core.drawing.figure import Figure
from webrag_core.drawing.reliability import reliability_diagram
from webrag_core.readable import counted
from webrag_core.reliability import Reliability

_FEW = 30


def confidence_figure(curve: Reliability) -> Figure | None:
    """The reliability of the confidence of judged answers. None where none was judged."""
    if curve.ece is None:
        return None
    few = " Too few to conclude from." if curve.n < _FEW else ""
    note = (
        f"{counted(curve.n, 'judged answer')}; confidence and share differ by {100 * curve.ece:.0f} points on average."
        f"{few} People choose what they judge: this is no sample of all answers."
    )
    return reliability_diagram(curve, stated="confidence", observed="judged right", cases="answers", note=note)
