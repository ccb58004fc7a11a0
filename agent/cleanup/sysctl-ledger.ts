/**
 * What settings of the kernel were before they were changed, so that they can be given back. One line of JSON for each,
 * written before the change: of several lines about a setting the first is right. The file is on a file system that a boot
 * empties, as it sets the settings back.
 */
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { SysctlKey } from '../../datapath/netlink/kernel/types.ts';
import type { Netlink } from '../../datapath/netlink/netlink.ts';
import { MANAGEMENT_PREFIX } from '../node/host-view.ts';

type HostNetlink = Pick<Netlink, 'read' | 'apply' | 'watch'>;

/** Beside the socket of the agent. */
export const ledgerPath = (statusSocket: string): string => join(dirname(statusSocket), 'sysctls.jsonl');

/** The same kernel, with a memory: an original value is in the file before the setting is changed. */
export const rememberingSysctls = (netlink: HostNetlink, path: string): HostNetlink => {
  let known: Promise<Set<SysctlKey>> | undefined;
  const remember = async (keys: readonly SysctlKey[], signal: AbortSignal | undefined): Promise<void> => {
    known ??= readLedger(path).then((originals) => new Set(originals.keys()));
    const remembered = await known;
    const news = keys.filter((key) => !remembered.has(key));
    if (news.length === 0) return;
    const { sysctls } = await netlink.read({ sysctls: news }, signal);
    await mkdir(dirname(path), { recursive: true });
    await appendFile(path, [...sysctls].map(([key, value]) => `${JSON.stringify({ key, value })}\n`).join(''));
    for (const key of sysctls.keys()) remembered.add(key);
  };
  return {
    read: (query, signal) => netlink.read(query, signal),
    watch: (listener) => netlink.watch(listener),
    apply: async (changes, signal) => {
      const keys =
        changes.netns === undefined ? changes.ops.flatMap((op) => (op.op === 'sysctl.set' ? [op.key] : [])) : [];
      const lasting = keys.filter((key) => !key.includes(`/conf/${MANAGEMENT_PREFIX}`));
      if (lasting.length > 0) await remember(lasting, signal);
      return await netlink.apply(changes, signal);
    },
  };
};

/** Sets everything back and forgets it. @throws the first refusal */
export const restoreSysctls = async (
  netlink: Pick<Netlink, 'apply'>,
  path: string,
  signal: AbortSignal,
): Promise<void> => {
  await setBack(netlink, await readLedger(path), signal);
  await rm(path, { force: true });
};

/** What nftables guard has to be set back before they go: the rest, and what is known of these, stays. @throws the first refusal */
export const restoreGuarded = async (
  netlink: Pick<Netlink, 'apply'>,
  path: string,
  signal: AbortSignal,
): Promise<void> => {
  const originals = [...(await readLedger(path))].filter(([key]) => key.endsWith('/route_localnet'));
  await setBack(netlink, originals, signal);
};

/** Links that are gone have taken their settings along. */
const setBack = async (
  netlink: Pick<Netlink, 'apply'>,
  originals: Iterable<readonly [SysctlKey, string]>,
  signal: AbortSignal,
): Promise<void> => {
  // The last change first: some settings set others (`all` sets those of every link).
  const ops = [...originals]
    .reverse()
    .map(([key, value]) => ({ op: 'sysctl.set', key, value, ifPresent: true }) as const);
  if (ops.length === 0) return;
  const [failure] = await netlink.apply({ ops }, signal);
  if (failure !== undefined) throw failure.error;
};

const lineSchema = z.strictObject({ key: z.string(), value: z.string() });

const readLedger = async (path: string): Promise<Map<SysctlKey, string>> => {
  const originals = new Map<SysctlKey, string>();
  for (const line of (await readOrNothing(path)).split('\n')) {
    const entry = parseLine(line);
    if (entry !== undefined && !originals.has(entry.key)) originals.set(entry.key, entry.value);
  }
  return originals;
};

/** The last line may be cut off where a process ended: then the setting was not changed yet. */
const parseLine = (line: string): z.output<typeof lineSchema> | undefined => {
  try {
    return lineSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
};

const readOrNothing = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
