/** Images of `make images`, loaded into the runtime of nodes with real kubelets. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findArtifacts } from '../artifacts.ts';
import type { Sandbox } from '../index.ts';
import { TOOLBOX_IMAGE } from '../real-kubelet/images.ts';

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
  const load = async (node: string): Promise<void> => {
    for (const name of IMAGES) await ctr(sandbox, node, 'import', `/opt/ovn-udn/build/images/${name}.tar`);
  };
  await Promise.all(nodes.map(load));
};

/** The pods of the sandbox run this image by another name, too: one that a page or a manifest for any cluster has. */
export const tagToolbox = async (sandbox: Sandbox, nodes: readonly string[], name: string): Promise<void> => {
  await Promise.all(nodes.map((node) => ctr(sandbox, node, 'tag', TOOLBOX_IMAGE, name)));
};

const ctr = (sandbox: Sandbox, node: string, ...args: string[]) =>
  sandbox.node(node, ['ctr', '--namespace', 'k8s.io', 'images', ...args], { timeoutMs: 120_000 });
