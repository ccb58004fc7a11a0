/**
 * What is programmed is the desired state: databases, flows, the host's network stack and nftables, as the agent itself
 * compares.
 */
import { expect } from 'vitest';
import type { Sandbox } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';

const SETTLED_MS = 30_000;

export const expectNoDifference = async (sandbox: Sandbox, nodes: readonly string[]): Promise<void> => {
  const settled = nodes.map((node) =>
    eventually(async () => {
      expect((await sandbox.node(node, ['udnctl', 'diff'])).stdout).toMatch(/^no difference\n/);
    }, SETTLED_MS),
  );
  await Promise.all(settled);
};
