#!/usr/bin/env python3
"""Reads a folder of events by TensorBoard's own package, and prints what it finds, line by line.

Ends with 77 where the package is missing.
"""
import os
import sys
import zlib

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
except ImportError:
    sys.exit(77)


def pixels(png):
    """The rows of a PNG file of 8 bits a channel without filters, in hexadecimal."""
    at, data = 8, b""
    while at < len(png):
        length, kind = int.from_bytes(png[at:at + 4], "big"), png[at + 4:at + 8]
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    return zlib.decompress(data).hex()


def show(folder):
    events = EventAccumulator(folder, size_guidance={"tensors": 0, "images": 0, "scalars": 0, "histograms": 0})
    events.Reload()
    tags = events.Tags()
    for tag in tags["scalars"]:
        for e in events.Scalars(tag):
            print("scalar", tag, e.step, e.value)
    for tag in tags["histograms"]:
        for e in events.Histograms(tag):
            h = e.histogram_value
            print("histogram", tag, e.step, h.min, h.max, h.num, h.sum, h.sum_squares, sum(h.bucket),
                  [n for n in h.bucket if n], len(h.bucket_limit) == len(h.bucket))
    for tag in tags["images"]:
        for e in events.Images(tag):
            print("image", tag, e.step, e.width, e.height, pixels(e.encoded_image_string))
    for tag in tags["tensors"]:
        for e in events.Tensors(tag):
            print("text", tag, e.step, e.tensor_proto.string_val[0].decode(),
                  events.SummaryMetadata(tag).plugin_data.plugin_name)
    try:
        settings = events.PluginTagToContent("hparams")
    except KeyError:
        settings = {}
    for tag in ("experiment", "session_start_info", "session_end_info"):
        if "_hparams_/" + tag not in settings:
            continue
        data = HParamsPluginData.FromString(settings["_hparams_/" + tag])
        if tag == "experiment":
            print("hparams", tag, [(h.name, h.type) for h in data.experiment.hparam_infos],
                  [m.name.tag for m in data.experiment.metric_infos])
        elif tag == "session_start_info":
            print("hparams", tag, {k: v.string_value or v.number_value
                                   for k, v in sorted(data.session_start_info.hparams.items())})
        else:
            print("hparams", tag, data.session_end_info.status)
    if tags["graph"]:
        for node in events.Graph().node:
            shape = node.attr["_output_shapes"].list.shape
            sizes = [[d.size for d in s.dim] for s in shape]
            print("node", node.name, node.op, list(node.input), sizes)


for root, folders, files in sorted(os.walk(sys.argv[1])):
    folders.sort()
    if files:
        print("run", os.path.relpath(root, sys.argv[1]))
        show(root)
