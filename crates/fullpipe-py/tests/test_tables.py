"""Traces as Arrow, read by those who can."""

import gc

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
    with pytest.raises(ValueError, match="only flows, stages, events, counters and packets"):
        run.trace.table("nonsense")
    assert run.trace.flows.__arrow_c_schema__() is not None
    # Capsules that nobody takes are given back.
    for _ in range(1000):
        run.trace.flows.__arrow_c_stream__()


KEPT = ["report.packets.at=link"]


def test_packets_are_a_table_where_they_were_kept(scenario, tmp_path):
    arrow, parquet = wanted("pyarrow"), wanted("pyarrow.parquet")
    kept = fullpipe.load(scenario, set=KEPT).run(out=tmp_path / "kept")
    run = kept["cubic"]
    assert run.trace.names == ["flows", "stages", "events", "counters", "packets"]
    table = arrow.table(run.trace.packets)
    there = parquet.read_table(tmp_path / "kept" / "cubic" / "packets.parquet")
    assert table.column_names == there.column_names and table.num_rows == there.num_rows
    for column in table.column_names:
        assert table[column].to_pylist() == there[column].to_pylist(), column
    assert sum(table["count"].to_pylist()) == run.summary["packets"]["packets"] > 1000
    # Without a directory they are the same.
    loose = fullpipe.load(scenario, set=KEPT).run()
    assert arrow.table(loose["cubic"].trace.packets) == table
    assert arrow.table(loose["reno"].trace.packets) == arrow.table(kept["reno"].trace.packets)


def test_kept_packets_go_with_their_results(scenario, tmp_path, monkeypatch):
    wanted("pyarrow")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    run = fullpipe.load(scenario, set=KEPT, variant="reno").run()[0]
    assert len(list(tmp_path.glob("fullpipe-packets-*/0/packets.parquet"))) == 1
    trace = run.trace
    del run
    assert len(trace.packets) > 100
    del trace
    gc.collect()
    assert not list(tmp_path.glob("fullpipe-packets-*"))


def test_where_no_packets_were_kept_it_is_said_how_to_keep_them(run):
    assert "packets" not in run.trace.names
    with pytest.raises(fullpipe.ScenarioError, match=r'cubic kept no packets.*set=\{"report.packets.at": "sender"\}'):
        run.trace.packets
