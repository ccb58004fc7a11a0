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
  const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([said, status]).toEqual(['', 0]);
});
