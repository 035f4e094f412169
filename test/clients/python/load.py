"""Uses a client as an application would, and prints each second what it saw, as a line of JSON."""

import importlib
import json
import os
import random
import time

KEYS = [f"{os.environ['NAME']}-k{i}" for i in range(500)]


def empty():
    return {"reads": 0, "misses": 0, "errors": 0, "wrong": 0, "longest": 0, "error": ""}


class Load:
    def __init__(self, cache):
        self.cache, self.seen = cache, empty()

    def timed(self, call, *arguments):
        start = time.monotonic()
        try:
            return call(*arguments)
        except Exception as error:
            self.seen["errors"] += 1
            self.seen["error"] = repr(error)
            return error
        finally:
            milliseconds = round(1000 * (time.monotonic() - start))
            self.seen["longest"] = max(self.seen["longest"], milliseconds)

    def read(self, key):
        """Reads a key and, if it is missing, stores it."""
        value = self.timed(self.cache.get, key)
        self.seen["reads"] += 1
        if isinstance(value, Exception):
            return
        if not isinstance(value, (str, bytes)):  # None, or dogpile's NO_VALUE
            self.seen["misses"] += 1
            self.timed(self.cache.set, key, "value of " + key)
        elif value not in ("value of " + key, ("value of " + key).encode()):
            self.seen["wrong"] += 1

    def report(self, **more):
        print(json.dumps({"at": time.time(), **self.seen, **more}), flush=True)
        self.seen = empty()


def main():
    library = importlib.import_module("use_" + os.environ["CLIENT"])
    arguments = [os.environ[name] for name in ("CA", "USERNAME", "PASSWORD") if name in os.environ]
    load = Load(library.connect(os.environ["SERVERS"].split(), *arguments))
    for key in KEYS + KEYS:  # The second round stores the keys that the first one failed to store.
        load.read(key)
    load.report(start=True, version=library.VERSION)
    reported = time.monotonic()
    while True:
        load.read(random.choice(KEYS))
        if time.monotonic() - reported >= 1:
            load.report()
            reported = time.monotonic()
        time.sleep(0.01)


main()
