/** Programs in Python that go on when the command that started them has ended: in a pod, on a node, or outside. */

/**
 * @param program ends its preparations with `def serve()`; what those do is done when the command ends, and their errors are
 * its own. It then serves as long as the place is there, or until `serve` returns.
 */
export const inBackground = (program: string): string => `
import json, os, select, socket, struct, subprocess, sys, threading, time
${program}
if os.fork() == 0:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    serve()
`;
