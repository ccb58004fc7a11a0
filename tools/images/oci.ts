/**
 * An image as an archive: OCI Image Specification v1.1, "Image Layout", in one tar. `ctr images import`, `podman load`, `skopeo` and
 * `docker load` take it; the last of them, before version 25, by `manifest.json` (Docker Image Specification v1.2). Pure.
 */
import { type TarEntry, tarArchive } from '../../base/tar.ts';
import type { ImageSpec } from './image-spec.ts';
import { digestOf, type Layer } from './layer.ts';

export interface OciImage {
  readonly spec: ImageSpec;
  readonly tag: string;
  /** Of Go: amd64, arm64. */
  readonly architecture: string;
  /** The lowest first. */
  readonly layers: readonly Layer[];
  /** RFC 3339. */
  readonly created: string;
  /** The commit that it is made of. */
  readonly revision: string;
}

export const ociArchive = (image: OciImage): Buffer => {
  const { spec, tag, architecture, layers } = image;
  const config = blob(configOf(image), 'application/vnd.oci.image.config.v1+json');
  const layerBlobs = layers.map(({ content, digest }) => ({ content, descriptor: layerDescriptor(content, digest) }));
  const manifest = blob(
    {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: config.descriptor,
      layers: layerBlobs.map(({ descriptor }) => descriptor),
    },
    MANIFEST,
  );
  const reference = `docker.io/library/${spec.name}:${tag}`;
  const annotations = { 'io.containerd.image.name': reference, 'org.opencontainers.image.ref.name': tag };
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [{ ...manifest.descriptor, platform: { architecture, os: 'linux' }, annotations }],
  };
  const docker = [
    {
      Config: pathOf(config.descriptor.digest),
      RepoTags: [`${spec.name}:${tag}`],
      Layers: layers.map(({ digest }) => pathOf(digest)),
    },
  ];
  return tarArchive([
    file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    file('index.json', json(index)),
    file('manifest.json', json(docker)),
    ...['blobs', 'blobs/sha256'].map((path): TarEntry => ({ kind: 'folder', path })),
    ...[config, manifest, ...layerBlobs].map(({ content, descriptor }) => file(pathOf(descriptor.digest), content)),
  ]);
};

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

const configOf = ({ spec, architecture, layers, created, revision }: OciImage) => ({
  created,
  architecture,
  os: 'linux',
  config: {
    ...(spec.user === undefined ? {} : { User: spec.user }),
    Env: [`PATH=${PATH}`],
    Entrypoint: spec.entrypoint,
    ...(spec.command === undefined ? {} : { Cmd: spec.command }),
    WorkingDir: spec.workingFolder,
    Labels: { ...spec.labels, 'org.opencontainers.image.revision': revision },
  },
  rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  history: layers.map(() => ({ created, created_by: 'make images' })),
});

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const blob = (value: unknown, mediaType: string): { content: Buffer; descriptor: Descriptor } => {
  const content = json(value);
  return { content, descriptor: { mediaType, digest: digestOf(content), size: content.length } };
};

const layerDescriptor = (content: Uint8Array, digest: string): Descriptor => ({
  mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
  digest,
  size: content.length,
});

const pathOf = (digest: string): string => `blobs/${digest.replace(':', '/')}`;

const file = (path: string, content: Uint8Array): TarEntry => ({ kind: 'file', path, content, mode: 0o644 });

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
