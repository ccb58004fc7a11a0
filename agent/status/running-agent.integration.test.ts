import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimNode } from './running-agent.ts';

const BUILD = resolve('build');
let folder: string;
let socket: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'udn-claim-'));
  // A node that has just booted has no folder yet.
  socket = join(folder, 'run', 'status.sock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('of agents that start at once, when none answers yet, one gets the node', async () => {
  const claims = await Promise.allSettled(Array.from({ length: 5 }, () => claimNode(socket, BUILD)));
  const refused = claims.flatMap((claim) => (claim.status === 'rejected' ? [String(claim.reason)] : []));
  expect(refused).toHaveLength(4);
  for (const reason of refused) expect(reason).toMatch(/an agent is running on this node .* stop it first/);
  for (const claim of claims) if (claim.status === 'fulfilled') claim.value[Symbol.dispose]();
  using next = await claimNode(socket, BUILD);
  expect(next).toBeDefined();
  // Who else reads the lock could hold it.
  expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
});

it('an agent that holds no lock, as those of versions before, is known by its answer', async () => {
  (await claimNode(socket, BUILD)).remove();
  const server = createServer((client) => client.end()).listen(socket);
  await new Promise((ready) => server.once('listening', ready));
  await expect(claimNode(socket, BUILD)).rejects.toThrow(`it answers on ${socket}`);
  await new Promise((closed) => server.close(closed));
});
