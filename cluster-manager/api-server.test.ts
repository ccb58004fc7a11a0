import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseClusterConfig } from '../api/cluster-config.ts';
import { findApiServer } from './api-server.ts';

it('the address that the agent publishes is taken instead of a ClusterIP, and of no other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'api-server-'));
  try {
    const apiServerFile = join(folder, 'url');
    await writeFile(apiServerFile, 'https://172.20.0.1:6443\n');
    const cluster = parseClusterConfig({ serviceSubnets: '10.96.0.0/16' });
    const { signal } = new AbortController();
    const find = (host: string, file?: string) =>
      findApiServer({ apiServerFile: file, cluster }, signal)({ host, port: 443 });
    expect(await find('10.96.0.1', apiServerFile)).toBe('https://172.20.0.1:6443');
    expect(await find('172.20.0.99', apiServerFile)).toBeUndefined();
    expect(await find('10.96.0.1')).toBeUndefined();
  } finally {
    await rm(folder, { recursive: true });
  }
});
