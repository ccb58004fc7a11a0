/**
 * The subresource `exec` as kube-apiserver has it towards clients: the version of the protocol is negotiated, channels are opened
 * with empty messages, output comes in pieces, and a Status ends it. What runs is given by the test.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

export interface ExecRequest {
  /** `namespace/pod` */
  readonly pod: string;
  readonly container: string | null;
  readonly command: readonly string[];
  readonly headers: IncomingMessage['headers'];
}

export interface ExecResult {
  readonly stdout?: readonly (string | Uint8Array)[];
  readonly stderr?: readonly string[];
  /** A Status; undefined: the connection is cut before one. */
  readonly status: object | undefined;
}

export interface Refusal {
  readonly httpStatus: number;
  readonly body: object | string;
}

export interface ExecServer extends AsyncDisposable {
  readonly url: string;
}

export const SUCCESS = { status: { kind: 'Status', status: 'Success' } } as const;

export const exitCode = (code: number): ExecResult['status'] => ({
  kind: 'Status',
  status: 'Failure',
  reason: 'NonZeroExitCode',
  message: `command terminated with non-zero exit code: exit status ${code}`,
  details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
});

/** @param run undefined: nothing ever comes, and the connection stays */
export const startExecServer = async (
  run: (request: ExecRequest) => ExecResult | Refusal | undefined,
): Promise<ExecServer> => {
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has('v5.channel.k8s.io') ? 'v5.channel.k8s.io' : false),
  });
  const server = createServer((_, response) => response.writeHead(400).end('an upgrade is needed'));
  server.on('upgrade', (request, socket: Duplex, head: Buffer) => {
    const result = run(requestOf(request));
    if (result !== undefined && 'httpStatus' in result) return refuse(socket, result);
    sockets.handleUpgrade(request, socket, head, (client) => {
      if (result !== undefined) answer(client, result);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      for (const client of sockets.clients) client.terminate();
      server.close();
      await once(server, 'close');
    },
  };
};

const requestOf = ({ url = '', headers }: IncomingMessage): ExecRequest => {
  const { pathname, searchParams } = new URL(url, 'http://server');
  const [, namespace, pod] = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/exec$/.exec(pathname) ?? [];
  return {
    pod: `${namespace}/${pod}`,
    container: searchParams.get('container'),
    command: searchParams.getAll('command'),
    headers,
  };
};

const refuse = (socket: Duplex, { httpStatus, body }: Refusal): void => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  socket.end(`HTTP/1.1 ${httpStatus} Refused\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
};

const answer = (client: WebSocket, { stdout = [], stderr = [], status }: ExecResult): void => {
  const send = (channel: number, content: string | Uint8Array = ''): void =>
    client.send(Buffer.concat([Uint8Array.of(channel), Buffer.from(content)]));
  for (const channel of [1, 2, 3]) send(channel);
  for (const piece of stdout) send(1, piece);
  for (const piece of stderr) send(2, piece);
  if (status === undefined) client.terminate();
  else {
    send(3, JSON.stringify(status));
    client.close(1000);
  }
};
