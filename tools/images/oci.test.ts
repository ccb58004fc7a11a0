import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Layer, layerOfFiles } from './layer.ts';
import { type OciImage, ociArchive } from './oci.ts';

const FILES = [
  { source: 'bin/udnctl', path: 'opt/ovn-udn/bin/udnctl' },
  { source: 'LICENSE', path: 'opt/ovn-udn/LICENSE' },
];

const imageOf = (layers: readonly Layer[]): OciImage => ({
  spec: {
    ...{ name: 'udnctl', packages: [], layers: [FILES], labels: { 'org.opencontainers.image.title': 'ovn-udn' } },
    ...{ entrypoint: ['/opt/ovn-udn/bin/udnctl'], user: '65532:65532', workingFolder: '/opt/ovn-udn' },
  },
  ...{ tag: '1.2.3', architecture: 'arm64', layers, created: '1970-01-01T00:00:00Z', revision: 'abc' },
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'oci-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const json = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'));

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/** The content that a descriptor names, which has to be what it says. */
const blobOf = ({ digest, size }: Descriptor): Buffer => {
  const content = readFileSync(join(folder, 'blobs', digest.replace(':', '/')));
  expect([`sha256:${createHash('sha256').update(content).digest('hex')}`, content.length]).toEqual([digest, size]);
  return content;
};

it('is a layout in which every digest is that of its content', async () => {
  const layer = await layerOfFiles(FILES);
  writeFileSync(join(folder, 'image.tar'), ociArchive(imageOf([layer])));
  execFileSync('tar', ['-xf', 'image.tar'], { cwd: folder });
  expect(json('oci-layout')).toEqual({ imageLayoutVersion: '1.0.0' });
  const [index] = json('index.json').manifests;
  expect(index).toMatchObject({
    platform: { architecture: 'arm64', os: 'linux' },
    annotations: { 'io.containerd.image.name': 'docker.io/library/udnctl:1.2.3' },
  });
  const manifest = JSON.parse(blobOf(index).toString());
  const config = JSON.parse(blobOf(manifest.config).toString());
  expect(config.config).toMatchObject({ User: '65532:65532', Entrypoint: ['/opt/ovn-udn/bin/udnctl'] });
  expect(config.config.Labels['org.opencontainers.image.revision']).toBe('abc');
  const archive = gunzipSync(blobOf(manifest.layers[0]));
  expect(config.rootfs.diff_ids).toEqual([`sha256:${createHash('sha256').update(archive).digest('hex')}`]);
  const [docker] = json('manifest.json');
  expect(docker).toMatchObject({
    RepoTags: ['udnctl:1.2.3'],
    Layers: [index && `blobs/sha256/${layer.digest.slice(7)}`],
  });
  const listed = execFileSync('tar', ['-tvzf', join(folder, 'blobs', layer.digest.replace(':', '/'))]).toString();
  expect(listed).toMatch(/^-rwxr-xr-x .* opt\/ovn-udn\/bin\/udnctl$/m);
  expect(listed).toMatch(/^drwxr-xr-x .* opt\/ovn-udn\/$/m);
});

it('is the same for the same files, in whatever order they are named', async () => {
  const one = ociArchive(imageOf([await layerOfFiles(FILES)]));
  const other = ociArchive(imageOf([await layerOfFiles(FILES.toReversed())]));
  expect(one.equals(other)).toBe(true);
});
