/** ovn-udn as a user installs it: images of `make images`, loaded into the nodes' runtime, and overlays of `daemonset/` for `kubectl apply -k`. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { findArtifacts } from '../../../../sandbox/artifacts.ts';
import type { Sandbox } from '../../../../sandbox/index.ts';

const IMAGES = ['udn-agent', 'udn-cluster-manager', 'udn-ovn'] as const;
const run = promisify(execFile);

/** In `build/images`, of the programs that `make build` has made. */
export const buildImages = async (): Promise<void> => {
  const { node, root } = findArtifacts();
  const env = { ...process.env, UDN_IMAGES: IMAGES.join(','), UDN_IMAGES_ENGINE: 'none', SOURCE_DATE_EPOCH: '0' };
  await run(node, ['tools/images/main.ts'], { cwd: root, env, maxBuffer: 1 << 20 });
};

/** Nodes see `build` of this checkout. */
export const loadImages = async (sandbox: Sandbox, nodes: readonly string[]): Promise<void> => {
  await Promise.all(
    nodes.map(async (node) => {
      for (const name of IMAGES) {
        const archive = `/opt/ovn-udn/build/images/${name}.tar`;
        await sandbox.node(node, ['ctr', '--namespace', 'k8s.io', 'images', 'import', archive], { timeoutMs: 120_000 });
      }
    }),
  );
};

export interface Overlays extends AsyncDisposable {
  /** Folders for `kubectl apply -k`. */
  readonly ovn: string;
  readonly programs: string;
  readonly uninstall: string;
}

/**
 * @param settings of the ConfigMap, as docs/install.md asks for them
 * @param isUserspace Open vSwitch forwards packets itself, as on a machine whose kernel has no datapath: it needs a device
 */
export const writeOverlays = async (
  settings: Readonly<Record<string, string>>,
  isUserspace: boolean,
): Promise<Overlays> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'with-ovn-')));
  const base = relative(join(folder, 'programs'), resolve('daemonset'));
  const literals = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const overlay = (namespace: string, of: string, component: string) => ({
    namespace,
    resources: [join(base, of)],
    components: [join(base, component)],
    configMapGenerator: [{ name: 'cluster-settings', behavior: 'merge', literals }],
  });
  const ovn = {
    resources: [join(base, 'ovn')],
    patches: isUserspace ? [{ target: { kind: 'DaemonSet', name: 'udn-ovn' }, patch: USERSPACE }] : [],
  };
  return {
    ovn: await writeKustomization(join(folder, 'ovn'), ovn),
    programs: await writeKustomization(join(folder, 'programs'), overlay('ovn-udn', '.', 'with-ovn')),
    uninstall: await writeKustomization(
      join(folder, 'uninstall'),
      overlay('ovn-udn-cleanup', 'uninstall', 'uninstall-with-ovn'),
    ),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
};

const writeKustomization = async (folder: string, content: object): Promise<string> => {
  await mkdir(folder);
  await writeFile(join(folder, 'kustomization.yaml'), stringify(content));
  return folder;
};

const USERSPACE = stringify([
  {
    op: 'add',
    path: '/spec/template/spec/initContainers/0/env/-',
    value: { name: 'OVN_DATAPATH', value: 'netdev' },
  },
  {
    op: 'add',
    path: '/spec/template/spec/containers/0/volumeMounts/-',
    value: { name: 'tun', mountPath: '/dev/net/tun' },
  },
  {
    op: 'add',
    path: '/spec/template/spec/volumes/-',
    value: { name: 'tun', hostPath: { path: '/dev/net/tun', type: 'CharDevice' } },
  },
]);
