import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeStaleDrafts } from './tree.ts';

it('drafts of makers that were killed go after an hour, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'udn-tree-'));
  try {
    for (const name of ['tree-1', 'tree-1.draft-a']) mkdirSync(join(folder, name, 'usr'), { recursive: true });
    // As dpkg does with the root of a tree that is being made.
    utimesSync(join(folder, 'tree-1.draft-a'), 0, 0);
    await removeStaleDrafts(folder, Date.now() + 60_000);
    expect(readdirSync(folder).sort()).toEqual(['tree-1', 'tree-1.draft-a']);
    await removeStaleDrafts(folder, Date.now() + 2 * 3_600_000);
    expect(readdirSync(folder)).toEqual(['tree-1']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
