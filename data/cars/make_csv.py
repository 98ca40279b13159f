#!/usr/bin/env python3
"""Makes cars.csv from cars.json of vega_datasets.

    make_csv.py cars.json
"""
import csv
import json
import os
import sys

COLUMNS = {"mpg": "Miles_per_Gallon", "cylinders": "Cylinders", "displacement": "Displacement", "horsepower": "Horsepower",
           "weight": "Weight_in_lbs", "acceleration": "Acceleration", "year": "Year", "origin": "Origin", "name": "Name"}

with open(sys.argv[1]) as file:
    cars = json.load(file)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cars.csv"), "w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    for car in cars:
        car["Year"] = car["Year"][:4]
        table.writerow("" if car[key] is None else car[key] for key in COLUMNS.values())
