/**
 * The images that specs name, without a registry: agnhost, built from its source above the nodes' Debian tree with the programs that it
 * has in Kubernetes' image, CoreDNS among them; it stands in for other images that specs only need for a shell, or to run at all.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type TarEntry, tarArchive } from '../../base/tar.ts';
import { createAuthority } from '../../sandbox/api/kube/certificate.ts';
import { unpackArguments } from '../../sandbox/guest/recipe.ts';
import { PAUSE_IMAGE, TREE_MARKER } from '../../sandbox/real-kubelet/images.ts';
import { SUITE } from '../../sandbox/tree/recipe.ts';
import { ensureInCache, mmdebstrap } from '../../sandbox/tree/tree.ts';
import { digestOf, type Layer, layerOf } from '../images/layer.ts';
import { ociArchive } from '../images/oci.ts';

export interface SpecImage {
  readonly name: string;
  readonly archive: Buffer;
}

/** Without a registry, tag and last part of the name: what containerd imports them as. */
const TAG = 'conformance';
export const referenceOf = (name: string): string => `docker.io/library/${name}:${TAG}`;

/** By the last part of the name that specs use. */
const STAND_INS: Readonly<Record<string, string>> = {
  agnhost: referenceOf('agnhost'),
  busybox: referenceOf('agnhost'),
  'cyclonus-worker': referenceOf('cyclonus-worker'),
  'glibc-dns-testing': referenceOf('agnhost'),
  nginx: referenceOf('agnhost'),
  pause: PAUSE_IMAGE,
  'regression-issue-74839': referenceOf('regression-issue-74839'),
};

export interface ImageTag {
  readonly name: string;
  readonly reference: string;
}

/** Of suites of other projects, which do not say which images they need. */
const OTHERS: readonly string[] = [
  'registry.k8s.io/e2e-test-images/agnhost:2.45',
  'docker.io/mfenwick100/cyclonus-worker:latest',
];

/** @param list of `e2e.test --list-images`: a name in full per line @param images that are there */
export const tagsFor = (list: string, images: readonly Pick<SpecImage, 'name'>[]): ImageTag[] =>
  [...new Set([...list.split('\n').map((line) => line.trim()), ...OTHERS])]
    .flatMap((name) => {
      const reference = STAND_INS[/([^/]+):[^:/]+$/.exec(name)?.[1] ?? ''];
      const isThere = reference === PAUSE_IMAGE || images.some((image) => referenceOf(image.name) === reference);
      return reference === undefined || !isThere ? [] : [{ name, reference }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));

export interface ImageParts {
  /** Paths of programs. */
  readonly agnhost: string;
  readonly coredns: string;
  readonly 'regression-issue-74839': string;
  /** cyclonus' one: undefined without its suite. */
  readonly worker: string | undefined;
}

export const specImages = async (parts: ImageParts, progress: (text: string) => void): Promise<SpecImage[]> => {
  const [tools, agnhost, coredns, regression] = await Promise.all([
    ensureTools(progress),
    readFile(parts.agnhost),
    readFile(parts.coredns),
    readFile(parts['regression-issue-74839']),
  ]);
  const netcat = { kind: 'file', path: 'usr/bin/nc', content: Buffer.from(NETCAT), mode: 0o755 } as const;
  const programs: readonly TarEntry[] = [{ kind: 'folder', path: 'usr' }, { kind: 'folder', path: 'usr/bin' }, netcat];
  const layers = [
    ...[await treeLayer(), tools, await layerOf(tarArchive([...programs, ...servingCertificate()]))],
    await layerOf(tarArchive([program('agnhost', agnhost)])),
    await layerOf(tarArchive([program('coredns', coredns)])),
  ];
  return [
    imageOf('agnhost', layers, ['pause']),
    ...(parts.worker === undefined ? [] : [await workerImage(parts.worker, layers)]),
    imageOf('regression-issue-74839', [await layerOf(tarArchive([program('regression-issue-74839', regression)]))]),
  ];
};

/** cyclonus' pods serve with agnhost, and probe with its worker. Every container has a command. */
const workerImage = async (path: string, layers: readonly Layer[]): Promise<SpecImage> => {
  const worker = await layerOf(tarArchive([program('worker', await readFile(path))]));
  return imageOf('cyclonus-worker', [...layers, worker]);
};

/** Of Debian's alternatives, which nothing sets up where packages are only unpacked. */
const NETCAT = '#!/bin/sh\nexec nc.openbsd "$@"\n';

/** Of servers of TLS, whose clients do not look at it. agnhost finds both in its working directory. */
const servingCertificate = (): TarEntry[] => {
  const { certificate, key } = createAuthority('conformance', Date.now()).issue({ commonName: 'localhost' }, [
    'localhost',
  ]);
  return [
    { kind: 'file', path: 'localhost.crt', content: Buffer.from(certificate), mode: 0o644 },
    { kind: 'file', path: 'localhost.key', content: Buffer.from(key), mode: 0o644 },
  ];
};

const program = (path: string, content: Uint8Array): TarEntry => ({ kind: 'file', path, content, mode: 0o755 });

/** The same as the lowest one of the sandbox's own image, over which every node has mounted its Debian tree. */
const treeLayer = (): Promise<Layer> =>
  layerOf(tarArchive([{ kind: 'file', path: TREE_MARKER, content: new Uint8Array(), mode: 0o444 }]));

const imageOf = (name: string, layers: readonly Layer[], command: readonly string[] = []): SpecImage => {
  const spec = {
    ...{ name, packages: [], layers: [], labels: {}, user: undefined, workingFolder: '/' },
    ...{ entrypoint: [`/${name}`], command },
  };
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  return { name, archive: ociArchive({ spec, tag: TAG, architecture, layers, created: EPOCH, revision: '' }) };
};

const EPOCH = '1970-01-01T00:00:00Z';

/** Beside what the nodes' tree has: curl, ss, a shell. */
const TOOLS: readonly string[] = ['bind9-dnsutils', 'iperf', 'netcat-openbsd', 'wget'];

const ensureTools = async (progress: (text: string) => void): Promise<Layer> => {
  const folder = await ensureInCache(`conformance-tools-${SUITE}-${toolsDigest()}`, async (draft) => {
    progress(`unpacking ${TOOLS.join(', ')} (once, about half a minute)`);
    const [root, archive] = [join(draft, 'root'), join(draft, 'usr.tar')];
    await mmdebstrap((mirror) => unpackArguments(TOOLS, mirror, root));
    await run('tar', ['--create', '--file', archive, '--directory', root, ...REPRODUCIBLE, 'usr']);
    const { content, diffId, uncompressedSize } = await layerOf(await readFile(archive));
    await writeFile(join(draft, 'layer.tar.gz'), content);
    await writeFile(join(draft, 'layer.json'), JSON.stringify({ diffId, uncompressedSize }));
    await Promise.all([rm(root, { recursive: true }), rm(archive)]);
  });
  const [content, facts] = await Promise.all([
    readFile(join(folder, 'layer.tar.gz')),
    readFile(join(folder, 'layer.json'), 'utf8'),
  ]);
  const known = JSON.parse(facts) as Pick<Layer, 'diffId' | 'uncompressedSize'>;
  return { ...known, content, digest: digestOf(content) };
};

const run = promisify(execFile);
const REPRODUCIBLE = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];

const toolsDigest = (): string =>
  createHash('sha256')
    .update(JSON.stringify([unpackArguments(TOOLS, '', ''), REPRODUCIBLE, process.arch]))
    .digest('hex')
    .slice(0, 12);
