/** Images of `make images`, loaded into the runtime of nodes with real kubelets. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findArtifacts } from '../artifacts.ts';
import type { Sandbox } from '../index.ts';
import { TOOLBOX_IMAGE } from '../real-kubelet/images.ts';

export const IMAGES = ['udn-agent', 'udn-cluster-manager', 'udn-ovn'] as const;
/** In a checkout. */
export const IMAGE_FOLDER = 'build/images';
const run = promisify(execFile);

export const archiveOf = (name: string): string => join(IMAGE_FOLDER, `${name}.tar`);

/** In `build/images`, of the programs that `make build` has made. @param root of the checkout; default: of this one */
export const buildImages = async (root = findArtifacts().root): Promise<void> => {
  const env = { ...process.env, UDN_IMAGES: IMAGES.join(','), UDN_IMAGES_ENGINE: 'none', SOURCE_DATE_EPOCH: '0' };
  await run(process.execPath, ['tools/images/main.ts'], { cwd: root, env, maxBuffer: 1 << 20 });
};

/** Nodes see `build` of this checkout. */
export const loadImages = async (sandbox: Sandbox, nodes: readonly string[]): Promise<void> => {
  const load = async (node: string): Promise<void> => {
    for (const name of IMAGES) await ctr(sandbox, node, 'import', `/opt/ovn-udn/${archiveOf(name)}`);
  };
  await Promise.all(nodes.map(load));
};

/**
 * Images of another version, by a tag of their own: both may have the same in their archives, so call it before `loadImages`.
 * @param folder with archives where a checkout has them
 * @param version their tag
 */
export const loadImagesAs = async (
  sandbox: Sandbox,
  nodes: readonly string[],
  { folder, version, tag }: { readonly folder: string; readonly version: string; readonly tag: string },
): Promise<void> => {
  const { root } = findArtifacts();
  // Several tests may do this at once.
  const place = join(IMAGE_FOLDER, `of-${sandbox.name}`);
  await mkdir(join(root, place), { recursive: true });
  try {
    for (const name of IMAGES) await copyFile(join(folder, archiveOf(name)), join(root, place, `${name}.tar`));
    const load = async (node: string): Promise<void> => {
      for (const name of IMAGES) {
        await ctr(sandbox, node, 'import', `/opt/ovn-udn/${place}/${name}.tar`);
        await ctr(sandbox, node, 'tag', '--force', `${LIBRARY}/${name}:${version}`, `${LIBRARY}/${name}:${tag}`);
      }
    };
    await Promise.all(nodes.map(load));
  } finally {
    await rm(join(root, place), { recursive: true, force: true });
  }
};

/** What a name without a registry stands for. */
const LIBRARY = 'docker.io/library';

/** The pods of the sandbox run this image by another name, too: one that a page or a manifest for any cluster has. */
export const tagToolbox = async (sandbox: Sandbox, nodes: readonly string[], name: string): Promise<void> => {
  await Promise.all(nodes.map((node) => ctr(sandbox, node, 'tag', TOOLBOX_IMAGE, name)));
};

const ctr = (sandbox: Sandbox, node: string, ...args: string[]) =>
  sandbox.node(node, ['ctr', '--namespace', 'k8s.io', 'images', ...args], { timeoutMs: 120_000 });
