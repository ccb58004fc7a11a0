import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureKubernetes, type ProgramPaths } from './build.ts';

const ROOT = join(import.meta.dirname, '..', '..');
let folder: string;
let messages: string[];
let env: NodeJS.ProcessEnv;

/** A Go that writes down how it was called, and builds programs that are nothing but their package's name. */
const FAKE_GO = `#!/bin/sh
[ "$1" = version ] && { echo "go version go1.26.8 linux/amd64"; exit 0; }
while [ "$1" != -o ]; do shift; done
echo "$2 $3 $CGO_ENABLED $GOFLAGS" >> "$FAKE/calls"
for i in $(seq 400); do echo "package/$i" >&2; done
echo "go: downloading a v1" >&2
[ -e "$FAKE/fails" ] && { echo "no such module" >&2; printf half > "$2"; exit 1; }
printf '%s' "$3" > "$2"
`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'udn-kubernetes-'));
  messages = [];
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'go'), FAKE_GO);
  chmodSync(join(folder, 'bin', 'go'), 0o755);
  const path = `${join(folder, 'bin')}:${process.env['PATH']}`;
  env = { PATH: path, XDG_CACHE_HOME: join(folder, 'cache'), FAKE: folder };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ensure = (more: NodeJS.ProcessEnv = {}): Promise<ProgramPaths<'etcd' | 'kubectl'>> =>
  ensureKubernetes(['etcd', 'kubectl'], {
    root: ROOT,
    progress: (message) => messages.push(message),
    env: { ...env, ...more },
  });

const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
/** Without locks. */
const cached = (): string[] =>
  readdirSync(join(folder, 'cache', 'ovn-udn'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.endsWith('.lock'),
  );

describe('ensureKubernetes', () => {
  it('builds what the cache lacks, once, and says how far it is', async () => {
    const paths = await ensure();
    expect(readFileSync(paths.etcd, 'utf8')).toBe('go.etcd.io/etcd/server/v3');
    expect(readFileSync(paths.kubectl, 'utf8')).toBe('k8s.io/kubernetes/cmd/kubectl');
    expect(calls()).toHaveLength(2);
    expect(calls()[0]).toMatch(/ 0 -mod=readonly -trimpath -buildvcs=false$/);
    expect(messages[0]).toMatch(/^building etcd, kubectl of Kubernetes v1\.\d+\.\d+ into .*kubernetes-v1/);
    expect(messages).toContain('kubectl: 400 packages compiled');
    expect(await ensure()).toEqual(paths);
    expect(calls()).toHaveLength(2);
  });

  it('builds once for several who ask at once', async () => {
    const all = await Promise.all([ensure(), ensure(), ensure()]);
    expect(calls()).toHaveLength(2);
    expect(new Set(all.map(({ etcd }) => etcd)).size).toBe(1);
    expect(messages).toContain('another process builds Kubernetes; waiting for it');
  });

  it('leaves nothing of a build that fails, says why, and builds the next time', async () => {
    writeFileSync(join(folder, 'fails'), '');
    await expect(ensure()).rejects.toMatchObject({
      code: 'ERR_SANDBOX_MACHINE',
      message: expect.stringMatching(/^etcd was not built: it ended with status 1\n(?:.*\n)*no such module$/),
    });
    expect(cached()).toEqual([expect.stringMatching(/^kubernetes-v[^/]*$/)]);
    rmSync(join(folder, 'fails'));
    expect(existsSync((await ensure()).etcd)).toBe(true);
  });

  it('takes what KUBEBUILDER_ASSETS has', async () => {
    const assets = join(folder, 'assets');
    mkdirSync(assets);
    writeFileSync(join(assets, 'etcd'), 'mine');
    const paths = await ensure({ KUBEBUILDER_ASSETS: assets });
    expect(paths.etcd).toBe(join(assets, 'etcd'));
    expect(calls()).toEqual([expect.stringContaining('cmd/kubectl')]);
    writeFileSync(join(assets, 'kubectl'), 'mine');
    expect(await ensure({ KUBEBUILDER_ASSETS: assets })).toEqual({ ...paths, kubectl: join(assets, 'kubectl') });
  });
});
