/** What a cluster leaves in the guest that tests share, which lives on: after it nothing is there that was not there before it. */
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { findArtifacts } from '../../../../sandbox/artifacts.ts';
import { type Guest, inGuest } from '../../../../sandbox/guest/guest.ts';
import { borrowGuest } from '../../../../sandbox/guest/shared.ts';
import { lackOf, readFeatures } from '../../../../sandbox/machine/features.ts';
import type { Need } from '../../../../sandbox/plan/options.ts';
import { run } from '../../../../sandbox/process/run.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';

/**
 * Call it before `useCluster` of the same needs, which looks at this machine: hooks after tests are run in reverse. Where the
 * cluster is on this machine's own kernel there is nothing more to look at.
 */
export const leavesNothingInGuest = (needs: readonly Need[]): void => {
  let guest: Guest | undefined;
  let before: readonly string[] = [];
  beforeAll(async () => {
    const { toolbox } = findArtifacts();
    if (lackOf(await readFeatures(toolbox), needs).length === 0) return;
    guest = await borrowGuest();
    if (guest === undefined) throw new Error('no guest is shared');
    before = await tracesIn(toolbox, guest);
  }, STARTING_MS);
  afterAll(async () => {
    const there = guest;
    if (there === undefined) return;
    const left = async () => moreThan(before, await tracesIn(findArtifacts().toolbox, there));
    await eventually(async () => expect(await left()).toEqual([]), PATIENCE_MS);
  }, 2 * PATIENCE_MS);
};

const STARTING_MS = 180_000;
const PATIENCE_MS = 30_000;

/** One of each, as often as there are more of it: namespaces have no names. */
const moreThan = (before: readonly string[], after: readonly string[]): string[] => {
  const known = [...before];
  return after.filter((trace) => {
    const at = known.indexOf(trace);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
};

const tracesIn = async (toolbox: string, guest: Guest): Promise<readonly string[]> =>
  z.array(z.string()).parse(JSON.parse(await run(inGuest(toolbox, guest, ['python3', '-c', TRACES]))));

/** Without kernel threads, this command, and what serves it; and without folders of the machine, which a guest is given and keeps. */
const TRACES = `
import json, os

def read(path):
    try:
        with open(path) as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ''

def entries(folder):
    return os.listdir(folder) if os.path.exists(folder) else []

found, namespaces = [], set()
for pid in filter(str.isdigit, os.listdir('/proc')):
    command = read('/proc/' + pid + '/cmdline').replace('\\0', ' ').strip()
    if int(pid) == os.getpid() or command == '' or 'guest-init' in command:
        continue
    found.append('process ' + command)
    for kind in ('net', 'mnt', 'pid', 'uts', 'ipc', 'cgroup'):
        try:
            namespaces.add((kind, os.readlink('/proc/' + pid + '/ns/' + kind)))
        except (FileNotFoundError, ProcessLookupError):
            pass
found += ['namespace of kind ' + kind for kind, _ in namespaces]
found += ['mount ' + line for line in read('/proc/self/mounts').splitlines() if ' hostfs ' not in line]
found += ['cgroup ' + folder for folder, _, _ in os.walk('/sys/fs/cgroup')]
found += ['link ' + name for name in entries('/sys/class/net')]
found += [folder + '/' + name for folder in ('/run', '/run/ovn-udn-sandbox', '/tmp') for name in entries(folder)]
print(json.dumps(sorted(found)))
`;
