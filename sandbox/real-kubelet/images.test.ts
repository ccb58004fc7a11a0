import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { COREDNS_IMAGE, imageArchive, PAUSE_IMAGE, TOOLBOX_IMAGE } from './images.ts';

/** Files of an archive by name. */
const filesOf = (archive: Buffer): Map<string, Buffer> => {
  const files = new Map<string, Buffer>();
  for (let at = 0; archive[at] !== 0; ) {
    const name = archive.toString('latin1', at, at + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8);
    files.set(name, archive.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
};

const sha256 = (content: Buffer | undefined): string =>
  createHash('sha256')
    .update(content ?? '')
    .digest('hex');

const json = (content: Buffer | undefined): unknown => JSON.parse(content?.toString() ?? '');

const PROGRAM = Buffer.from('a program');

it('has both images, whose layers are what their configurations say', () => {
  const files = filesOf(imageArchive(PROGRAM));
  const manifest = json(files.get('manifest.json')) as { Config: string; RepoTags: string[]; Layers: string[] }[];
  expect(manifest.map(({ RepoTags }) => RepoTags)).toEqual([[TOOLBOX_IMAGE], [PAUSE_IMAGE]]);
  for (const { Config, Layers } of manifest) {
    expect(Config).toBe(`${sha256(files.get(Config))}.json`);
    const diffIds = Layers.map((layer) => `sha256:${sha256(files.get(layer))}`);
    expect(json(files.get(Config))).toMatchObject({ os: 'linux', rootfs: { type: 'layers', diff_ids: diffIds } });
  }
});

it('runs the toolbox: in pods above the Debian tree, in their sandboxes alone', () => {
  const files = filesOf(imageArchive(PROGRAM));
  const manifest = json(files.get('manifest.json')) as { Config: string; Layers: string[] }[];
  const [pods, sandboxes] = manifest.map(({ Config, Layers }) => ({
    layers: Layers.map((layer) => [...filesOf(files.get(layer) ?? Buffer.alloc(1)).keys()]),
    entrypoint: (json(files.get(Config)) as { config: { Entrypoint: string[] } }).config.Entrypoint,
  }));
  const toolbox = ['usr/', 'usr/local/', 'usr/local/bin/', 'usr/local/bin/toolbox'];
  expect(pods).toEqual({ layers: [['.debian-tree'], toolbox], entrypoint: ['/usr/local/bin/toolbox'] });
  expect(sandboxes).toEqual({ layers: [toolbox], entrypoint: ['/usr/local/bin/toolbox', 'pause'] });
});

it('has room for CoreDNS where it is requested, above what pods have', () => {
  const files = filesOf(imageArchive(PROGRAM, true));
  const manifest = json(files.get('manifest.json')) as { RepoTags: string[]; Layers: string[] }[];
  const [pods, , dns] = manifest;
  expect(dns?.RepoTags).toEqual([COREDNS_IMAGE]);
  expect(dns?.Layers.slice(0, -1)).toEqual(pods?.Layers);
  const added = filesOf(files.get(dns?.Layers.at(-1) ?? '') ?? Buffer.alloc(1));
  expect([...added].map(([name, content]) => [name, content.toString()])).toEqual([['usr/local/bin/coredns', '']]);
});

it('is the same for the same program', () => {
  expect(imageArchive(PROGRAM).equals(imageArchive(PROGRAM))).toBe(true);
  expect(imageArchive(PROGRAM).equals(imageArchive(Buffer.from('another')))).toBe(false);
});
