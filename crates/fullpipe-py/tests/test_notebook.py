"""The notebook of the docs does what it says."""

import json
import os
import pathlib

CHECKOUT = pathlib.Path(os.environ.get("FULLPIPE_CHECKOUT") or pathlib.Path(__file__).parents[3])
NOTEBOOK = CHECKOUT / "docs" / "python.ipynb"


def test_the_notebook_runs(tmp_path):
    try:
        import ipykernel  # noqa: F401
        import nbclient
        import nbformat
    except ImportError:
        print("without nbclient: its cells one after the other")
        variables = {}
        for cell in json.loads(NOTEBOOK.read_text())["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), variables)
        return
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("<table>" in output.get("data", {}).get("text/html", "") for output in shown)
    assert any("held back by" in output.get("text", "") for output in shown)
