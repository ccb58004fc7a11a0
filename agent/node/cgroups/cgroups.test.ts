import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, statSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { messageOf } from '../../../base/error-message.ts';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import { FactStore } from '../../model/fact-store.ts';
import { LOCAL } from '../../model/facts.ts';
import type { WatchFolder } from './cgroup-tree.ts';
import { classifyCgroup } from './classify.ts';
import { type Cgroups, startCgroups } from './index.ts';
import { cgroupRoot } from './root.ts';

describe('the root', () => {
  const line = (root: string, folder: string, type: string): string => `41 31 0:38 ${root} ${folder} rw - ${type} c rw`;

  it.each([
    ['v2', [line('/', '/sys/fs/cgroup', 'cgroup2')], { folder: '/sys/fs/cgroup', prefix: '' }],
    [
      'v2 beside v1',
      [line('/', '/sys/fs/cgroup/cpu', 'cgroup'), line('/', '/sys/fs/cgroup/unified', 'cgroup2')],
      { folder: '/sys/fs/cgroup/unified', prefix: 'unified' },
    ],
    ['only v1', [line('/', '/sys/fs/cgroup/cpu', 'cgroup')], undefined],
    ['where nft does not look', [line('/', '/mnt/cgroup', 'cgroup2')], undefined],
    ['a part of the tree', [line('/kubepods', '/sys/fs/cgroup', 'cgroup2')], undefined],
    ['nothing', ['', 'garbage'], undefined],
  ])('of %s', (_, lines, root) => {
    expect(cgroupRoot(lines.join('\n'))).toEqual(root);
  });
});

const UID = '992d3b9e-3f85-42e2-9558-9d4273d4236f';
const ESCAPED = UID.replaceAll('-', '_');

describe('a path', () => {
  it.each([
    'kubelet.slice/kubelet.service',
    'system.slice/kubelet.service',
    'system.slice/k3s.service',
    'system.slice/k3s-agent.service',
    'runtime.slice/kubelet.service',
  ])('%s is a kubelet', (path) => {
    expect(classifyCgroup(path.split('/'))).toMatchObject({ kind: 'kubelet' });
  });

  it.each([
    `kubepods/besteffort/pod${UID}`,
    `kubepods/pod${UID}`,
    `kubepods.slice/kubepods-pod${ESCAPED}.slice`,
    `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${ESCAPED}.slice`,
    `kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod${ESCAPED}.slice`,
    `kubelet/kubepods/burstable/pod${UID}`,
  ])('%s is a pod', (path) => {
    expect(classifyCgroup(path.split('/'))).toEqual({ kind: 'pod', uid: UID });
  });

  it('of a static pod has the hash', () => {
    const hash = 'a8747502060113802905a8747502060a';
    expect(classifyCgroup(['kubepods', `pod${hash}`])).toEqual({ kind: 'pod', uid: hash });
  });

  it.each([
    'user.slice',
    'user.slice/user-0.slice/kubelet.service/x',
    'machine.slice',
    'system.slice/docker-0123.scope',
    `kubepods/besteffort/pod${UID}/kubelet.service/x`,
    `system.slice/pod${UID}`,
    'a "quoted".slice',
    'x\n.slice',
    '..',
  ])('%j is of no interest', (path) => {
    expect(classifyCgroup(path.split('/'))?.kind).not.toBe('pod');
    expect(path.split('/').every((_, index, all) => classifyCgroup(all.slice(0, index + 1)) !== undefined)).toBe(false);
  });

  it('that is given is the only kubelet', () => {
    const given = ['podruntime.slice', 'my-kubelet'];
    expect(classifyCgroup(given, given)).toEqual({ kind: 'kubelet', rank: 0 });
    expect(classifyCgroup(given.slice(0, 1), given)).toEqual({ kind: 'folder' });
    expect(classifyCgroup(['kubelet.slice', 'kubelet.service'], given)).toBeUndefined();
  });
});

describe('the tree', () => {
  let folder: string;
  let facts: FactStore;
  let cgroups: Cgroups | undefined;
  const make = (path: string): string => mkdirSync(join(folder, path), { recursive: true }) ?? '';
  const remove = (path: string): void => rmdirSync(join(folder, path));
  const id = (path: string): string => String(statSync(join(folder, path), { bigint: true }).ino);
  const start = (kubelet?: string): void => {
    cgroups = startCgroups({ facts, kubelet, root: { folder, prefix: 'unified' } });
  };
  const kubelet = () => facts.get('kubeletCgroup', LOCAL);
  const eventually = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 5 });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cgroups-'));
    facts = new FactStore();
  });

  afterEach(() => {
    cgroups?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is known at once', () => {
    make('kubelet.slice/kubelet.service');
    make(`kubepods/besteffort/pod${UID}`);
    start();
    expect(kubelet()).toEqual({
      path: 'unified/kubelet.slice/kubelet.service',
      level: 2,
      id: id('kubelet.slice/kubelet.service'),
    });
    expect(facts.get('podCgroup', UID)).toMatchObject({ path: `unified/kubepods/besteffort/pod${UID}`, level: 3 });
  });

  it('is followed: a kubelet that comes, goes, and comes again is another one', async () => {
    start();
    expect(kubelet()).toBeUndefined();
    make('system.slice/kubelet.service');
    await eventually(() => expect(kubelet()?.path).toBe('unified/system.slice/kubelet.service'));
    const first = kubelet()?.id;
    remove('system.slice/kubelet.service');
    await eventually(() => expect(kubelet()).toBeUndefined());
    make('system.slice/other.service');
    make('system.slice/kubelet.service');
    await eventually(() => expect(kubelet()?.id).toBe(id('system.slice/kubelet.service')));
    expect(first).toBeDefined();
    remove('system.slice/kubelet.service');
    remove('system.slice/other.service');
    remove('system.slice');
    make('system.slice/kubelet.service');
    await eventually(() => expect(kubelet()?.id).toBe(id('system.slice/kubelet.service')));
  });

  it('prefers a kubelet over what contains one', async () => {
    make('system.slice/k3s.service');
    start();
    expect(kubelet()?.path).toBe('unified/system.slice/k3s.service');
    make('kubelet.slice/kubelet.service');
    await eventually(() => expect(kubelet()?.path).toBe('unified/kubelet.slice/kubelet.service'));
    remove('kubelet.slice/kubelet.service');
    await eventually(() => expect(kubelet()?.path).toBe('unified/system.slice/k3s.service'));
  });

  it('follows a kubelet that was given', async () => {
    make('kubelet.slice/kubelet.service');
    start('special/place');
    expect(kubelet()).toBeUndefined();
    make('special/place');
    await eventually(() => expect(kubelet()).toMatchObject({ path: 'unified/special/place', level: 2 }));
  });

  it('is as the folders are, after any changes', async () => {
    const paths = ['kubelet.slice', 'kubepods', 'kubepods/burstable', `kubepods/burstable/pod${UID}`, `kubepods/pod1`];
    const trash = mkdtempSync(join(tmpdir(), 'trash-'));
    let moved = 0;
    start();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...paths), { minLength: 1, maxLength: 12 }), async (toggled) => {
        for (const path of toggled) {
          // Moved away, not removed: this file system would use the inode again, which cgroups do not.
          if (isThere(join(folder, path))) renameSync(join(folder, path), join(trash, `${moved++}`));
          else if (isThere(dirname(join(folder, path)))) make(path);
        }
        for (const [uid, path] of [
          [UID, `kubepods/burstable/pod${UID}`],
          ['1', 'kubepods/pod1'],
        ] as const) {
          const expected = isThere(join(folder, path)) ? id(path) : undefined;
          await eventually(() => expect(facts.get('podCgroup', uid)?.id).toBe(expected));
        }
      }),
      { numRuns: 50 },
    );
    rmSync(trash, { recursive: true });
  });

  describe('that cannot be watched', () => {
    const clock = createFakeClock();
    const reported: string[] = [];
    const startWith = (watchFolder: WatchFolder): void => {
      reported.length = 0;
      const onUnwatched = (error: unknown, path: string): void => {
        reported.push(`${path}: ${messageOf(error)}`);
      };
      cgroups = startCgroups({ facts, root: { folder, prefix: '' }, clock, watch: watchFolder, onUnwatched });
    };
    const refused = (): never => {
      throw Object.assign(new Error('ENOSPC: no watches left'), { code: 'ENOSPC' });
    };

    it('is read every 15 s, and the error is reported once', async () => {
      make('system.slice/kubelet.service');
      startWith(refused);
      expect(reported).toEqual([': ENOSPC: no watches left']);
      const first = kubelet()?.id;
      expect(first).toBe(id('system.slice/kubelet.service'));
      // Moved away, not removed: this file system would use the inode again, which cgroups do not.
      renameSync(join(folder, 'system.slice/kubelet.service'), join(folder, 'system.slice/before'));
      await clock.advance(15_000);
      expect(kubelet()).toBeUndefined();
      make('system.slice/kubelet.service');
      make(`kubepods/besteffort/pod${UID}`);
      await clock.advance(15_000);
      expect(kubelet()?.id).toBe(id('system.slice/kubelet.service'));
      expect(kubelet()?.id).not.toBe(first);
      expect(facts.get('podCgroup', UID)?.id).toBe(id(`kubepods/besteffort/pod${UID}`));
      expect(reported).toHaveLength(1);
    });

    it('is watched as soon as it can be, and a second cause is reported again', async () => {
      make('system.slice');
      let hasWatches = false;
      const watched: string[] = [];
      startWith((path, options, listener) => {
        if (!hasWatches) refused();
        if (!path.endsWith('cgroup.events')) watched.push(path);
        return watch(path, options, listener);
      });
      hasWatches = true;
      await clock.advance(15_000);
      expect(watched).toEqual([folder, join(folder, 'system.slice')]);
      make('system.slice/kubelet.service');
      await eventually(() => expect(kubelet()?.id).toBe(id('system.slice/kubelet.service')));
      await clock.advance(15_000);
      expect(watched).toHaveLength(2);
      hasWatches = false;
      make('kubepods');
      await eventually(() => expect(reported).toHaveLength(2));
      expect(reported[1]).toBe('kubepods: ENOSPC: no watches left');
    });

    it('because it is gone already is nothing to report', () => {
      make('system.slice');
      startWith((path, options, listener) => {
        if (path.endsWith('system.slice')) rmdirSync(path);
        return watch(path, options, listener);
      });
      expect(reported).toEqual([]);
    });

    it('is left alone after the end', () => {
      startWith(watch);
      const before = clock.pending;
      cgroups?.stop();
      expect(clock.pending).toBe(before - 1);
    });
  });

  it('finds by itself what no event reported', async () => {
    const clock = createFakeClock();
    const watchFolder: WatchFolder = (path, options) => watch(path, options, () => {});
    cgroups = startCgroups({ facts, root: { folder, prefix: '' }, clock, watch: watchFolder });
    make('system.slice/kubelet.service');
    expect(kubelet()).toBeUndefined();
    await clock.advance(15_000);
    expect(kubelet()?.id).toBe(id('system.slice/kubelet.service'));
  });

  it('without cgroup v2 has nothing in it', () => {
    expect(startCgroups({ facts, root: undefined, mountinfo: '30 1 0:1 / /sys rw - sysfs sysfs rw' })).toMatchObject({
      supported: false,
    });
  });
});

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
