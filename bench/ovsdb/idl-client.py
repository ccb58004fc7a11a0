"""The Python IDL of Open vSwitch as a client of the benchmark. Prints what it measured, in milliseconds, as JSON."""
import json
import sys
import time

import ovs.db.idl
import ovs.db.schema
import ovs.json
import ovs.poller


def open_idl(remote, schema_file):
    helper = ovs.db.idl.SchemaHelper(location=schema_file)
    helper.register_table("Logical_Switch")
    helper.register_table("Logical_Switch_Port")
    return ovs.db.idl.Idl(remote, helper, leader_only=False)


def run_until(idl, condition):
    while True:
        idl.run()
        if condition():
            return
        poller = ovs.poller.Poller()
        idl.wait(poller)
        poller.block()


def main():
    mode, remote, schema_file, rows, sentinel = sys.argv[1:6]
    start = time.monotonic()
    idl = open_idl(remote, schema_file)
    ports = idl.tables["Logical_Switch_Port"].rows
    run_until(idl, lambda: len(ports) >= int(rows))
    synced = time.monotonic()
    result = {"sync": (synced - start) * 1000, "parser": str(ovs.json.PARSER)}
    if mode == "updates":
        print("ready", flush=True)
        seqno = idl.change_seqno
        run_until(idl, lambda: idl.change_seqno != seqno)
        first = time.monotonic()
        switches = idl.tables["Logical_Switch"].rows
        run_until(idl, lambda: any(row.name == sentinel for row in switches.values()))
        result["updates"] = (time.monotonic() - first) * 1000
    print(json.dumps(result), flush=True)
    idl.close()


main()
