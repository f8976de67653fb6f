"""Traces as Arrow, read by those who can."""

import pytest

import fullpipe


@pytest.fixture
def run(scenario):
    return fullpipe.load(scenario, variant="cubic").run()[0]


def wanted(name):
    return pytest.importorskip(name, reason=f"skipped: {name} is not installed")


def test_pyarrow_reads_what_parquet_holds(scenario, tmp_path):
    arrow, parquet = wanted("pyarrow"), wanted("pyarrow.parquet")
    run = fullpipe.load(scenario, variant="cubic").run(out=tmp_path / "kept")[0]
    for name in ["flows", "stages", "events", "counters"]:
        table = arrow.table(getattr(run.trace, name))
        kept = parquet.read_table(tmp_path / "kept" / "cubic" / f"{name}.parquet")
        assert table.num_rows == len(run.trace.table(name)) == kept.num_rows > 0
        assert table.column_names == kept.column_names
        for column in table.column_names:
            assert table[column].to_pylist() == kept[column].to_pylist(), column
    field = arrow.table(run.trace.flows).schema.field("srtt_us")
    assert field.metadata[b"unit"] == b"us"
    assert run.trace.flows.meanings["srtt_us"][0] == "us"


def test_readers_share_the_buffers(run):
    arrow = wanted("pyarrow")
    first, second = arrow.table(run.trace.flows), arrow.table(run.trace.flows)
    place = lambda table: table["time_ns"].chunk(0).buffers()[1].address
    assert place(first) == place(second)


def test_a_table_outlives_its_run(scenario):
    arrow = wanted("pyarrow")
    table = arrow.table(fullpipe.load(scenario, variant="reno").run()[0].trace.stages)
    assert "link" in set(table["stage_name"].to_pylist())


def test_polars_and_pandas_read_them(run):
    polars, pandas, arrow = wanted("polars"), wanted("pandas"), wanted("pyarrow")
    flows = polars.DataFrame(run.trace.flows)
    assert flows.height == len(run.trace.flows)
    assert flows["bytes_delivered"].max() == run.flows[0].bytes
    frame = pandas.DataFrame.from_arrow(run.trace.flows) if hasattr(pandas.DataFrame, "from_arrow") else arrow.table(run.trace.flows).to_pandas()
    assert frame["bytes_delivered"].max() == run.flows[0].bytes


def test_what_is_no_table_is_said(run):
    with pytest.raises(ValueError, match="only flows, stages, events and counters"):
        run.trace.table("nonsense")
    assert run.trace.flows.__arrow_c_schema__() is not None
    # Capsules that nobody takes are given back.
    for _ in range(1000):
        run.trace.flows.__arrow_c_stream__()
