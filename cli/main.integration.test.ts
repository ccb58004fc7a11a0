import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, 'main.ts');
const INPUT = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  status: { addresses: [{ type: 'InternalIP', address: '172.30.0.2' }] },
});

it('says nothing when its reader has gone', async () => {
  const child = spawn(process.execPath, [MAIN, 'render', '-f', '-', '--node', 'n1'], { stdio: 'pipe' });
  child.stdout.destroy();
  child.stdin.end(INPUT);
  const [errors, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([errors, status]).toEqual(['', 0]);
});

const run = async (...args: readonly string[]) => {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: 'pipe' });
  child.stdin.end();
  const [errors, output, [status]] = await Promise.all([text(child.stderr), text(child.stdout), once(child, 'exit')]);
  return { errors, output, status: status as number };
};

const NO_AGENT = ['--agent-socket', '/nonexistent/agent.sock'];

it.concurrent.each([
  ['an unknown command', ['nothing']],
  ['an unknown option', ['networks', '--nothing']],
  ['a value that is none of the choices', ['networks', '-o', 'xml']],
  ['no arguments where some are needed', ['explain']],
  ['a kind that cannot be explained', ['explain', 'node', 'a']],
  ['a Service without a namespace', ['explain', 'service', 'a']],
  ['a Service of a trace without a name', ['trace', '--from', 'host', '--to', 'service/a']],
  ['a pod without a namespace', ['explain', 'pod', 'a']],
  ['flows of nothing', ['flows']],
  ['a port that is none', ['trace', '--from', 'host', '--to', '1.1.1.1', '--port', '0']],
])('%s exits with 2', async (_, args) => {
  const { errors, status } = await run(...args);
  expect(errors).not.toBe('');
  expect(status).toBe(2);
});

it('help and version exit with 0', async () =>
  expect([(await run('--help')).status, (await run('--version')).status]).toEqual([0, 0]));

it.concurrent.each([
  ['networks', [], 1],
  ['trace', ['--from', 'host', '--to', '1.1.1.1'], 1],
  ['diff', [], 2],
  ['doctor', [], 2],
])('%s without an agent says where it was looked for', async (command, args, expected) => {
  const { errors, status } = await run(command, ...args, ...NO_AGENT);
  expect(errors).toMatch(/^udnctl: .*\/nonexistent\/agent\.sock/);
  expect(status).toBe(expected);
});

it('explain says that it is the agent that is missing', async () => {
  const { output, status } = await run('explain', 'pod', 'red/a', ...NO_AGENT);
  expect(output).toMatch(/MISSING {2}agent {2}.*\/nonexistent\/agent\.sock/);
  expect(status).toBe(1);
});
