/**
 * A gRPC health check as a kubelet makes it: one unary call of `grpc.health.v1.Health/Check` over plain HTTP/2 (gRPC over
 * HTTP/2, "Requests"; health/v1/health.proto). Two messages of one field each need no protobuf library.
 */
import { addAbortListener } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';

/** @throws when the server does not answer that `service` is serving, or `signal` aborts */
export const probeGrpc = async (address: string, port: number, service: string, signal: AbortSignal): Promise<void> => {
  const host = address.includes(':') ? `[${address}]` : address;
  const session = connect(`http://${host}:${port}`);
  using _ = addAbortListener(signal, () => session.destroy(new Error('timed out')));
  try {
    const { promise, reject } = Promise.withResolvers<never>();
    session.once('error', reject);
    session.once('close', () => reject(new Error('the connection was closed')));
    await Promise.race([check(session, service), promise]);
  } finally {
    session.on('error', () => undefined);
    session.destroy();
  }
};

const check = (session: ClientHttp2Session, service: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const chunks: Buffer[] = [];
    let status: string | undefined;
    const readStatus = (headers: Readonly<Record<string, unknown>>): void => {
      if (headers['grpc-status'] !== undefined) status = String(headers['grpc-status']);
    };
    call.on('response', readStatus);
    call.on('trailers', readStatus);
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.on('error', reject);
    call.on('end', () => {
      const answer = servingStatus(Buffer.concat(chunks));
      if (status !== '0') reject(new Error(`service unhealthy (gRPC status ${status ?? 'missing'})`));
      else if (answer !== SERVING) reject(new Error(`service unhealthy (responded with ${answer})`));
      else resolve();
    });
    call.end(healthCheckRequest(service));
  });

const SERVING = 1;
/** Flags (not compressed) and length of a message. */
const MESSAGE_HEADER = 5;

/** HealthCheckRequest { string service = 1 } */
const healthCheckRequest = (service: string): Buffer => {
  const name = Buffer.from(service);
  const message = name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.of(0x0a, name.length), name]);
  const header = Buffer.alloc(MESSAGE_HEADER);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
};

/** HealthCheckResponse { ServingStatus status = 1 }; a field that is 0 is not sent. */
const servingStatus = (body: Buffer): number => {
  const message = body.subarray(MESSAGE_HEADER);
  return message[0] === 0x08 ? (message[1] ?? 0) : 0;
};
