/** What a pod runs that is probed over gRPC. */

/**
 * A server that says over gRPC that it serves, as `grpc.health.v1.Health` does: frames of HTTP/2 (RFC 9113) by hand, as
 * pods have no library for it.
 */
export const GRPC_SERVER = `
import socketserver, struct

def frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload

def header(name, value):
    return b'\\0' + bytes([len(name)]) + name + bytes([len(value)]) + value

DATA, HEADERS, SETTINGS, PING, END_STREAM, END_HEADERS, ACK = 0, 1, 4, 6, 1, 4, 1

class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        if len(self.rfile.read(24)) < 24:
            return
        self.wfile.write(frame(SETTINGS, 0, 0))
        while True:
            head = self.rfile.read(9)
            if len(head) < 9:
                return
            length, kind, flags = int.from_bytes(head[:3], 'big'), head[3], head[4]
            stream = int.from_bytes(head[5:], 'big')
            payload = self.rfile.read(length)
            if kind == SETTINGS and not flags & ACK:
                self.wfile.write(frame(SETTINGS, ACK, 0))
            if kind == PING and not flags & ACK:
                self.wfile.write(frame(PING, ACK, 0, payload))
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                self.wfile.write(frame(HEADERS, END_HEADERS, stream, b'\\x88' + header(b'content-type', b'application/grpc')))
                self.wfile.write(frame(DATA, 0, stream, bytes([0, 0, 0, 0, 2, 8, 1])))
                self.wfile.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, header(b'grpc-status', b'0')))

class Server(socketserver.ThreadingTCPServer):
    address_family = 10
    allow_reuse_address = True

Server(('::', 9090), Handler).serve_forever()
`;
