"""What surrounds a training: progress, logs, stopping, the live page, metrics, profiles."""

import base64
import json
import os
import re
import signal
import struct
import urllib.request

import pytest

import gradus
from gradus import metrics, nn, profiler, watch


def test_progress_bar(capfd):
    with watch.ProgressBar(3, desc="train") as bar:
        for _ in range(3):
            bar.update()
        bar.set_postfix(loss=gradus.tensor(0.25), accuracy=1, device="cpu")
    assert bar.n == 3
    assert [each for each in watch.ProgressBar([5, 6], desc="list")] == [5, 6]
    assert list(watch.ProgressBar(2, disable=True)) == [0, 1]
    text = capfd.readouterr().err
    assert "train: 100%" in text and "loss=0.25" in text and "device=cpu" in text and "list: 100%" in text
    with pytest.raises(gradus.ValueError, match="total"):
        watch.ProgressBar(-1)
    with pytest.raises(gradus.TypeError, match="the value of loss is no number"):
        watch.ProgressBar(1, disable=True).set_postfix(loss=[1])


def test_csv_logger(tmp_path):
    log = watch.CSVLogger(str(tmp_path / "train.csv"))
    log.log({"epoch": 1, "loss": 0.5, "device": "cpu"})
    log.log({"epoch": 2, "loss": gradus.tensor(0.25)})
    assert (tmp_path / "train.csv").read_text() == "epoch,loss,device\n1,0.5,cpu\n2,0.25,\n"
    with pytest.raises(gradus.ValueError, match="accuracy"):
        log.log({"accuracy": 1})
    again = watch.CSVLogger(str(tmp_path / "train.csv"), append=True)
    again.load_state_dict(log.state_dict())
    again.log({"epoch": 3})
    assert (tmp_path / "train.csv").read_text().endswith("3,,\n")


def test_history_and_pictures(tmp_path):
    history = watch.History()
    for epoch in range(3):
        history.log({"loss": 1 / (1 + epoch)})
    assert len(history) == 3 and history.column("loss")[1] == 0.5
    svg = watch.plot_curves("LeNet", "epoch", {"loss": {"train": history.column("loss")}, "accuracy": [0.1, 0.9]})
    assert svg.startswith("<svg") and "LeNet" in svg and "accuracy" in svg
    watch.save_svg(svg, str(tmp_path / "loss.svg"))
    assert (tmp_path / "loss.svg").read_text() == svg
    assert "cat" in watch.plot_confusion_matrix("pets", gradus.tensor([[3, 1], [0, 2]]), ["cat", "dog"])
    watch.save_image(gradus.rand(4, 1, 5, 5), tmp_path / "grid.png", nrow=2)
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")
    assert watch.encode_png(gradus.rand(3, 4)).startswith(b"\x89PNG")
    assert watch.make_grid(gradus.rand(4, 1, 5, 5), nrow=2).shape == (3, 16, 16)


def test_early_stopping():
    stopping = watch.EarlyStopping(patience=2)
    assert [stopping.step(loss) for loss in (0.9, 0.6, 0.7, 0.8)] == [False, False, False, True]
    assert stopping.should_stop and stopping.best_score == 0.6 and stopping.wait_count == 2 and not stopping.improved
    again = watch.EarlyStopping(patience=2)
    again.load_state_dict(stopping.state_dict())
    assert again.best_score == 0.6
    with pytest.raises(gradus.ValueError, match="mode up is unknown"):
        watch.EarlyStopping(mode="up")


def test_stop_signal():
    stop = watch.StopSignal()
    assert not stop.requested
    os.kill(os.getpid(), signal.SIGTERM)
    assert stop.requested is True and stop.signal == signal.SIGTERM
    del stop


def test_dashboard():
    page = watch.Dashboard(port=0, title="a first run")
    page.add_scalar("loss/train", 0.5, 1)
    page.add_scalar("loss/train", gradus.tensor(0.25), 2)
    page.log({"loss/test": 0.125, "device": "cpu"}, 2)
    assert page.url == f"http://127.0.0.1:{page.port}/" and page.url in page._repr_html_()
    assert b"<html" in urllib.request.urlopen(page.url).read().lower()
    with pytest.raises(gradus.Error, match="port"):
        watch.Dashboard(port=page.port)


def test_summary_writer(tmp_path):
    writer = watch.SummaryWriter(str(tmp_path / "run"))
    writer.add_scalar("loss", 0.5, 1)
    writer.add_scalars("both", {"a": 1.0, "b": 2.0}, 1)
    writer.add_histogram("weights", gradus.randn(10))
    writer.add_text("notes", "a *first* run")
    writer.close()
    assert list((tmp_path / "run").glob("events.out.tfevents*"))


def test_summary_of_a_model():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, x):
            return self.fc(x)

    summary = watch.summary(Net(), gradus.rand(2, 4))
    assert summary.total_params == 15 and summary.total_mult_adds == 2 * 4 * 3
    assert [layer.type for layer in summary.layers] == ["Net", "Linear"]
    assert summary.layers[1].output_size == [2, 3] and "fc: Linear" in repr(summary)


def test_metrics():
    scores = gradus.tensor([[2.0, 1.0, 0.0], [0.0, 1.0, 2.0], [0.5, 3.0, 1.0], [0.0, 2.0, 1.0]])
    targets = gradus.tensor([0, 2, 1, 2])
    accuracy, matrix = metrics.Accuracy(), metrics.ConfusionMatrix(3)
    f1, recall, precision = metrics.F1Score(3), metrics.Recall(3, average="none"), metrics.Precision(3)
    for each in (accuracy, matrix, f1, recall, precision):
        each.update(scores, targets)
    assert accuracy.compute().item() == 0.75
    assert matrix.compute().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert abs(f1.compute().item() - 7 / 9) < 1e-6 and recall.compute().tolist() == [1, 1, 0.5]
    assert abs(precision.compute().item() - 5 / 6) < 1e-6
    mean, last = metrics.MeanMetric(), metrics.RunningMean(2)
    for loss in (1.0, gradus.tensor(2.0), 6):
        mean.update(loss)
        last.update(loss)
    assert mean.compute().item() == 3 and last.compute().item() == 4
    mean.reset()
    with pytest.raises(gradus.Error, match="MeanMetric"):
        mean.compute()
    with pytest.raises(gradus.ValueError, match="average no is unknown"):
        metrics.F1Score(3, average="no")


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(x)


def test_profile(tmp_path):
    model, x = nn.Sequential(nn.Linear(8, 4), nn.ReLU()), gradus.rand(3, 8)
    with profiler.profile(record_shapes=True, profile_memory=True, with_modules=True) as prof:
        for _ in range(2):
            with profiler.record_function("a step"):
                model(x).sum().backward()
    rows = {row.key: row for row in prof.key_averages()}
    assert rows["a step"].count == 2 and rows["relu"].count == 2 and rows["a step"].cpu_time_total > 0
    assert "a step" in prof.key_averages().table("self_cpu_time_total", 5)
    assert "Linear" in prof.module_averages().table()
    with profiler.profile(with_modules=True) as named:
        Named()(x)
    assert "Named" in named.module_averages().table() and "PythonModule" not in named.module_averages().table()
    prof.export_chrome_trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    prof.export_memory_timeline(tmp_path / "memory.svg")
    assert (tmp_path / "memory.svg").read_text().startswith("<svg")
    with pytest.raises(RuntimeError, match="nothing was measured"):
        profiler.profile().key_averages()
    with pytest.raises(gradus.ValueError, match="sort_by"):
        prof.key_averages().table("no_such_column")
    with profiler.profile():
        with pytest.raises(gradus.Error, match="runs already"):
            profiler.profile().start()


def test_a_notebook_shows_an_image_as_a_picture():
    gradus.manual_seed(0)
    for image in (gradus.rand(16, 20), gradus.rand(3, 16, 16), (gradus.rand(1, 20, 16) * 255).to(gradus.uint8),
                  gradus.rand(16, 16).requires_grad_(), gradus.rand(16, 16).half()):
        shown = image._repr_html_()
        data = base64.b64decode(re.search("base64,([^\"]*)", shown)[1])
        assert data.startswith(b"\x89PNG") and repr(image.dtype) in shown
        height, width = struct.unpack(">II", data[16:24])[::-1]
        assert (height, width) == image.shape[-2:]
    # Neither small ones, nor numbers that are no brightness, nor other shapes.
    for other in (gradus.rand(15, 20), gradus.randn(16, 16), gradus.rand(2, 16, 16), gradus.ones(16, 16, dtype=gradus.int64),
                  gradus.tensor(1.0), gradus.empty(16, 16, device="meta"), gradus.rand(16, 16) + float("nan")):
        assert other._repr_html_().startswith("<pre>tensor(")
    assert "&lt;AddBackward0&gt;" in (gradus.ones(2, requires_grad=True) + 1)._repr_html_()


def test_a_notebook_shows_a_module_as_a_table_and_a_history_as_curves():
    from gradus import nn

    model = nn.Sequential(nn.Linear(4, 8), nn.Sequential(nn.ReLU(), nn.Linear(8, 2)))
    shown = model._repr_html_()
    assert "Linear(in_features=4, out_features=8, bias=True)" in shown and "ReLU" in shown
    assert [int(n) for n in re.findall(r"<td>(\d+)</td>", shown)] == [40, 18] and "<th>58</th>" in shown
    history = gradus.watch.History()
    assert history._repr_html_() == ""
    for loss in (3.0, 2.0, 1.0):
        history.log({"loss": loss})
    picture = gradus.watch.plot_curves("loss", "epoch", {"loss": [3, 2, 1]})
    assert picture._repr_svg_() == picture and picture.startswith("<svg")
