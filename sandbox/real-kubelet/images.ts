/** The images that real kubelets start, as an archive that containerd imports: nobody has to reach a registry. Pure. */
import { createHash } from 'node:crypto';
import { arch } from 'node:os';
import { type TarEntry, tarArchive } from '../../base/tar.ts';

/** What pods name `toolbox`, in full: a name without registry and tag is this one to a container runtime. */
export const TOOLBOX_IMAGE = 'docker.io/library/toolbox:latest';
export const COREDNS_IMAGE = 'docker.io/library/coredns:latest';
export const PAUSE_IMAGE = 'localhost/pause:1';

/** In an image, the DNS server. */
export const COREDNS_PATH = 'usr/local/bin/coredns';
/** In the layer that the nodes' Debian tree takes the place of. */
export const TREE_MARKER = '.debian-tree';

/**
 * `docker save` format, Docker Image Specification v1.2. The image of pods has two layers: an empty one, over which a node
 * puts its own Debian tree instead of having a copy of it (start.ts), and the toolbox.
 * @param toolbox the program
 * @param withDns pods may name `coredns`: its layer, above the other two, has an empty file, which a node fills
 */
export const imageArchive = (toolbox: Uint8Array, withDns = false): Buffer => {
  const tree = layerOf([{ kind: 'file', path: TREE_MARKER, content: new Uint8Array(), mode: 0o444 }]);
  const programs = layerOf([
    ...FOLDERS.map((path): TarEntry => ({ kind: 'folder', path })),
    { kind: 'file', path: TOOLBOX_PATH, content: toolbox, mode: 0o755 },
  ]);
  const dns = withDns ? [layerOf([{ kind: 'file', path: COREDNS_PATH, content: new Uint8Array(), mode: 0o755 }])] : [];
  const images = [
    { name: TOOLBOX_IMAGE, layers: [tree, programs], entrypoint: [`/${TOOLBOX_PATH}`] },
    { name: PAUSE_IMAGE, layers: [programs], entrypoint: [`/${TOOLBOX_PATH}`, 'pause'] },
    ...dns.map((layer) => ({ name: COREDNS_IMAGE, layers: [tree, programs, layer], entrypoint: [`/${COREDNS_PATH}`] })),
  ].map(describe);
  return tarArchive([
    ...[tree, programs, ...dns].map(({ path, content }): TarEntry => ({ kind: 'file', path, content, mode: 0o644 })),
    ...images.map(({ path, content }): TarEntry => ({ kind: 'file', path, content, mode: 0o644 })),
    { kind: 'file', path: 'manifest.json', content: json(images.map(({ manifest }) => manifest)), mode: 0o644 },
  ]);
};

const FOLDERS = ['usr', 'usr/local', 'usr/local/bin'];
const TOOLBOX_PATH = 'usr/local/bin/toolbox';

interface Layer {
  readonly digest: string;
  /** In the archive. */
  readonly path: string;
  readonly content: Buffer;
}

interface ImageSpec {
  readonly name: string;
  /** The lowest first. */
  readonly layers: readonly Layer[];
  readonly entrypoint: readonly string[];
}

const layerOf = (entries: readonly TarEntry[]): Layer => {
  const content = tarArchive(entries);
  const digest = sha256(content);
  return { digest, path: `${digest}.tar`, content };
};

const describe = ({ name, layers, entrypoint }: ImageSpec) => {
  const content = json({
    architecture: goArchitecture(),
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: { Entrypoint: entrypoint, Env: [`PATH=${PATH}`], WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => `sha256:${digest}`) },
    history: layers.map(() => ({ created: '1970-01-01T00:00:00Z', created_by: 'sandbox' })),
  });
  const path = `${sha256(content)}.json`;
  return { path, content, manifest: { Config: path, RepoTags: [name], Layers: layers.map((layer) => layer.path) } };
};

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const goArchitecture = (): string => ({ x64: 'amd64', arm64: 'arm64' })[arch() as string] ?? arch();

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
