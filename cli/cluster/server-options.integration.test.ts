/** kubectl's flags, as the API server meets them. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { messageOf } from '../../base/error-message.ts';
import { createProgram } from '../program.ts';

/** Two servers that let nobody read anything, and one that never answers. */
const servers: { readonly server: Server; readonly requests: IncomingMessage[]; readonly url: string }[] = [];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'server-options-'));
  for (const answers of [true, true, false]) {
    const requests: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      requests.push(request);
      if (!answers) return;
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', message: 'no', code: 403 }),
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push({ server, requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  }
  await writeFile(
    join(folder, 'config'),
    stringify({
      'current-context': 'one',
      clusters: ['one', 'two', 'silent'].map((name, i) => ({ name, cluster: { server: servers[i]?.url } })),
      users: ['alice', 'bob'].map((name) => ({ name, user: { token: `of-${name}` } })),
      contexts: ['one', 'two', 'silent'].map((name) => ({ name, context: { cluster: name, user: 'alice' } })),
    }),
  );
});
afterAll(async () => {
  for (const { server } of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  /** What was printed, or why it failed. */
  readonly output: string;
  /** How each server saw who asks; undefined: nobody asked it. */
  readonly seen: readonly (IncomingMessage['headers'] | undefined)[];
}

const run = async (name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Answer> => {
  for (const { requests } of servers) requests.length = 0;
  const printed: string[] = [];
  const write = (text: unknown): boolean => printed.push(String(text)) > 0;
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockImplementation(write);
  const variables = { HOME: folder, KUBECONFIG: join(folder, 'config'), ...env };
  for (const [variable, value] of Object.entries(variables)) vi.stubEnv(variable, value);
  try {
    await createProgram(name).parseAsync(['node', name, ...args]);
  } catch (error) {
    printed.push(messageOf(error));
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.exitCode = undefined;
  }
  return { output: printed.join(''), seen: servers.map(({ requests }) => requests[0]?.headers) };
};

const PLUGIN = 'kubectl udn';

describe.each(['udnctl', PLUGIN])('%s', (program) => {
  it.each([
    ['the context', ['networks', '--context', 'two'], 1, { authorization: 'Bearer of-alice' }],
    ['the cluster', ['pods', '--cluster', 'two'], 1, { authorization: 'Bearer of-alice' }],
    ['the user', ['why', '--user', 'bob', 'red/web'], 0, { authorization: 'Bearer of-bob' }],
    ['the token', ['check', '--token', 'mine'], 0, { authorization: 'Bearer mine' }],
    ['the cluster to the doctor', ['doctor', '--cluster', 'two', '--as=eve'], 1, { 'impersonate-user': 'eve' }],
    ['whom to ask as', ['pods', '-A', '--as', 'eve', '--as-uid', '9'], 0, { 'impersonate-uid': '9' }],
    [
      'more than one group',
      ['networks', '-A', '--as', 'eve', '--as-group', 'a', '--as-group', 'b'],
      0,
      { 'impersonate-group': 'a, b' },
    ],
    ['all of it in front', ['--context', 'two', '--as', 'eve', 'pods', '-A'], 1, { 'impersonate-user': 'eve' }],
    ['the later one', ['--context', 'one', 'networks', '--context', 'two'], 1, { authorization: 'Bearer of-alice' }],
  ] as const)('hands over %s', async (_name, args, server, headers) => {
    const { seen, output } = await run(program, args);
    expect(seen[server], output).toMatchObject(headers);
    expect(seen[1 - server]).toBeUndefined();
  });

  it('needs no kubeconfig where a server is named', async () => {
    const [, { url } = { url: '' }] = servers;
    const { seen } = await run(program, ['-s', url, 'networks', '-A', '--token', 'mine'], { KUBECONFIG: '' });
    expect(seen[1]).toMatchObject({ authorization: 'Bearer mine' });
  });

  it('waits as long as the option says', async () => {
    const { output } = await run(program, ['doctor', '--cluster', '--context', 'silent', '--request-timeout', '50ms']);
    expect(output).toContain('no complete answer within 50 ms');
  });

  it.each([
    [['networks', '--request-timeout', 'soon'], 'Expected a number of seconds'],
    [['--context', 'two', 'render', '-f', '-', '--node', 'n'], '--context does not apply to render'],
    [['networks', '-A', '--as-group', 'a'], '--as'],
    [['networks', '-A', '--cluster', 'three'], 'no cluster "three"'],
    [['networks', '-A', '--server', 'localhost:1'], '"localhost:1" is not the address of an API server'],
  ] as const)('refuses %s', async (args, message) => {
    const { output, seen } = await run(program, args);
    expect(output).toContain(message);
    expect(seen).toEqual([undefined, undefined, undefined]);
  });
});

it('a flag of udnctl in the environment is no name of a cluster', async () => {
  const { seen } = await run('udnctl', ['doctor'], { UDN_CLUSTER: 'true' });
  expect(seen[0]).toMatchObject({ authorization: 'Bearer of-alice' });
});

it('help has what a command is about, and names where the others are', async () => {
  const { output } = await run(PLUGIN, ['networks', '--help']);
  expect(output).toContain('see kubectl options');
  expect(output).not.toContain('--as-group');
});
