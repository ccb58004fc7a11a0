import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { runDemo } from './demo.ts';
import { readOptions } from './options.ts';
import { createTerminal } from './terminal.ts';

const root = mkdtempSync(join(tmpdir(), 'demo-'));
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true, force: true });
});

it('another user than root is told in one sentence, before anything is made', async () => {
  vi.spyOn(process, 'getuid').mockReturnValue(1000);
  const options = readOptions([], root);
  const run = runDemo(options, createTerminal(process.stdout), new AbortController().signal);
  await expect(run).rejects.toMatchObject({
    code: 'ERR_SANDBOX_MACHINE',
    message: 'the sandbox needs root: it makes network namespaces, links and cgroups',
  });
  expect(existsSync(options.output)).toBe(false);
});
