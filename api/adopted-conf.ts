/**
 * What a network is whose NAD was written by hand, and may be edited under its pods: the CNI configuration that counts is the one that the
 * cluster manager has written beside the ids, for both programs. A network that was rendered has no such annotation: its spec cannot change.
 */
import { ApiError } from './errors.ts';
import { isUnowned } from './nad-owner.ts';
import { NAD_ANNOTATIONS } from './names.ts';
import { formatNetConf, inAnyOrder, type NetConf, parseNetConf } from './net-conf.ts';
import { type NetworkAttachmentDefinition, nadAnnotatedNetwork } from './network-attachment-definition.ts';

/**
 * Undefined: `spec.config` counts. What cannot be read counts as nothing, and is written again. Whatever else the NAD says of an owner, its author
 * can write; the annotation only the cluster manager, which takes it away from a NAD that is rendered.
 */
export const adoptedConf = (nad: NetworkAttachmentDefinition): NetConf | undefined => {
  const text = nad.metadata.annotations[NAD_ANNOTATIONS.networkConfig];
  if (text === undefined) return undefined;
  try {
    const conf = parseNetConf(text, nad.metadata);
    return conf?.name === nadAnnotatedNetwork(nad) ? conf : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
};

/** One that has been adopted stays so until a network is behind it, though its author gives it the marks of one that is rendered. */
export const mayBeAdopted = (
  nad: Parameters<typeof isUnowned>[0] & { readonly adopted?: NetConf | undefined },
): boolean => nad.adopted !== undefined || isUnowned(nad);

/** Keys of the CNI configuration that say something else. @param now undefined: it is of another plugin */
export const editedKeys = (before: NetConf, now: NetConf | undefined): readonly string[] => {
  if (now === undefined) return ['type'];
  const [old, young] = [comparable(before), comparable(now)];
  return [...new Set([...Object.keys(old), ...Object.keys(young)])].filter((key) => old[key] !== young[key]).sort();
};

/** Whether pods that run can stay on the network with what they have when these keys change. */
export const canFollow = (keys: readonly string[]): boolean => keys.every((key) => Object.hasOwn(FOLLOWED, key));

/** For an event and a problem of the NAD. */
export const editIgnored = (network: string, keys: readonly string[]): string =>
  `pods are on network ${network}, so the edit of ${keys.join(', ')} has no effect: they keep what they have, and new ones get the same; it is followed when the last of them is gone, or make another network`;

/** What an edit that is followed means for pods that run. */
export const editsFollowed = (network: string, keys: readonly string[]): readonly string[] =>
  keys.flatMap((key) => {
    const meaning = FOLLOWED[key];
    return meaning === undefined ? [] : [`network ${network} has another ${key} now: ${meaning}`];
  });

const KEEP_ADDRESSES = 'pods keep the addresses that they have until they are made again';
const MOVED = 'all of its pods are there, those that run included';

const FOLLOWED: Readonly<Record<string, string>> = {
  allowPersistentIPs: KEEP_ADDRESSES,
  excludeSubnets: KEEP_ADDRESSES,
  mtu: 'pods keep the MTU that they have until they are made again',
  physicalNetworkName: MOVED,
  reservedSubnets: KEEP_ADDRESSES,
  vlanID: MOVED,
};

/** By the keys as users write them. */
const comparable = (conf: NetConf): Readonly<Record<string, unknown>> => JSON.parse(formatNetConf(inAnyOrder(conf)));
