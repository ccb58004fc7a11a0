/** Why a CNI call failed, as one of a few words: the label of a metric, and what problems are grouped by. Pure. */
import { CniError, type CniErrorReason } from '../../api/cni/error.ts';
import { BridgeMissingError, PortGoneError } from './vswitch-ports.ts';

export const CNI_FAILURE_CAUSES = [
  'busy',
  'deleted',
  'internal',
  'interrupted',
  'kernel',
  'nftables',
  'not-ready',
  'ovn',
  'ovsdb',
  'refused',
  'waiting-for-network',
] as const;

export type CniFailureCause = (typeof CNI_FAILURE_CAUSES)[number];

/** That of the error itself, or else of the first one that it comes from. */
export const failureCause = (error: unknown): CniFailureCause => {
  const found = chainOf(error).map(ownCause);
  return found.find((cause) => cause !== undefined) ?? 'internal';
};

const BY_REASON: Readonly<Partial<Record<CniErrorReason, CniFailureCause>>> = {
  incompatibleVersion: 'refused',
  unsupportedField: 'refused',
  unknownContainer: 'refused',
  invalidEnvironment: 'refused',
  decodingFailure: 'refused',
  invalidConfig: 'refused',
  tryAgainLater: 'interrupted',
  busy: 'busy',
  notInstalled: 'ovn',
  notIsolated: 'nftables',
  pluginNotAvailable: 'not-ready',
  networkNotReady: 'waiting-for-network',
  podGone: 'deleted',
};

/** Errors of the worker thread have their code, but not their class. */
const BY_CODE: readonly (readonly [prefix: RegExp, cause: CniFailureCause])[] = [
  [/^ERR_OVSDB_/, 'ovsdb'],
  [/^ERR_NFT_/, 'nftables'],
  [/^(ERR_NETLINK_|ERR_POD_|E[A-Z0-9]+$)/, 'kernel'],
];

const ownCause = (error: unknown): CniFailureCause | undefined => {
  if (error instanceof CniError) return BY_REASON[error.reason];
  if (error instanceof BridgeMissingError || error instanceof PortGoneError) return 'ovsdb';
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? BY_CODE.find(([prefix]) => prefix.test(code))?.[1] : undefined;
};

/** An error, then those that it is made of, then what caused it. */
const chainOf = (error: unknown, depth = 0): readonly unknown[] => {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return [error];
  const parts = error instanceof AggregateError ? error.errors : [];
  const causes = error.cause === undefined ? [] : [error.cause];
  return [error, ...[...parts, ...causes].flatMap((one: unknown) => chainOf(one, depth + 1))];
};

const MAX_DEPTH = 5;
