/** `udnctl check`: whether a cluster can be installed to, or is. Only asks: nothing is changed. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { KubeClient } from '../../kube/types.ts';
import { DEFAULT_AGENT_SOCKET } from '../node/agent-client.ts';
import type { TextOutput } from '../output/format.ts';
import { checkAdmissionServed, checkInstaller, checkVersion } from './check/api-server.ts';
import { checkNoOwnDaemons, checkOwnVersions, OVS_SOCKET, VERSIONS_NOT_CHECKED } from './check/daemon-versions.ts';
import { AGENT, CLUSTER_MANAGER } from './check/expectations.ts';
import type { Finding } from './check/finding.ts';
import { checkForeignPlugins, type NodePrograms } from './check/foreign-plugins.ts';
import { checkDefinitions, checkPermissions, checkPolicies } from './check/installed.ts';
import { checkKubeProxy, checkNodeProxy, type NodeTraces } from './check/kube-proxy.ts';
import { checkMultiNetwork } from './check/multi-network.ts';
import { checkNetworks } from './check/networks.ts';
import { nodeTraces } from './check/node-traces.ts';
import { checkOtherInstallations } from './check/other-installations.ts';
import { checkAgents, checkClusterManager, checkLeader, checkNodes, checkOthers, checkOvn } from './check/running.ts';

export interface CheckOptions {
  /** Of the programs. */
  readonly namespace: string;
  /** Nothing is installed yet. */
  readonly before: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Of the node that this is. */
  readonly node?: (NodeTraces & NodePrograms) | undefined;
  /** Of Open vSwitch and OVN of the node that this is. */
  readonly versions?: (() => Promise<readonly Finding[]>) | undefined;
}

export interface CheckOutput extends TextOutput {
  /** 0: all is well; 1: something is not; 2: not everything could be looked at. */
  readonly exitStatus: 0 | 1 | 2;
}

export const check = async (client: KubeClient, options: CheckOptions): Promise<CheckOutput> => {
  const version = await checkVersion(client);
  // Nothing else can be asked either.
  const others =
    version.result === 'unknown' ? [] : await (options.before ? canBe(client, options) : isInstalled(client, options));
  const findings = [
    ...[version, ...others],
    ...(options.node === undefined ? [] : await ofNode(client, options.node, options)),
    ...((await options.versions?.()) ?? []),
  ];
  const results = findings.map(({ result }) => result);
  return {
    data: { findings },
    lines: findings.map(lineOf),
    exitStatus: results.includes('unknown') ? 2 : results.includes('failed') ? 1 : 0,
  };
};

const ofNode = async (
  client: KubeClient,
  node: NodeTraces & NodePrograms,
  { namespace, before }: CheckOptions,
): Promise<Finding[]> => [
  ...(await checkNodeProxy(node)),
  ...(before ? [] : await checkForeignPlugins(client, namespace, node)),
];

const canBe = async (client: KubeClient, { namespace }: CheckOptions): Promise<Finding[]> => {
  const findings = await Promise.all([
    checkAdmissionServed(client),
    checkInstaller(client),
    checkOtherInstallations(client, namespace),
    checkKubeProxy(client, namespace),
    checkOthers(client),
  ]);
  return findings.flat();
};

const isInstalled = async (client: KubeClient, { namespace, now }: CheckOptions): Promise<Finding[]> => {
  const findings = await Promise.all([
    checkDefinitions(client),
    checkOtherInstallations(client, namespace),
    checkPermissions(client, namespace, AGENT),
    checkPermissions(client, namespace, CLUSTER_MANAGER),
    checkPolicies(client, namespace),
    checkClusterManager(client, namespace),
    checkLeader(client, namespace, now),
    checkAgents(client, namespace),
    checkOvn(client, namespace),
    checkNodes(client),
    checkNetworks(client),
    checkKubeProxy(client, namespace),
    checkOthers(client),
    checkMultiNetwork(client, namespace),
  ]);
  return findings.flat();
};

const lineOf = ({ result, what, message }: Finding): string =>
  message === undefined ? `${result}: ${what}` : `${result}: ${what}: ${message}`;

export interface WhatToCheck {
  /** Of the programs. */
  readonly namespace: string;
  readonly before: boolean;
  readonly ovnInCluster: boolean;
  /** Where an agent is, the node is looked at, too. */
  readonly withNode: boolean;
}

export const checkFromHere = (client: KubeClient, asked: WhatToCheck): Promise<CheckOutput> => {
  const { namespace, before, ovnInCluster, withNode } = asked;
  const versions = ovnInCluster ? ownDaemonsOf(withNode) : versionsOf(withNode, before);
  const node = withNode && existsSync(dirname(DEFAULT_AGENT_SOCKET)) ? nodeTraces() : undefined;
  return check(client, { namespace, before, now: Date.now(), node, versions });
};

const ownDaemonsOf = (withNode: boolean): CheckOptions['versions'] =>
  withNode ? () => checkNoOwnDaemons() : undefined;

/** Before an installation a node is known by the socket of Open vSwitch. */
const versionsOf = (withNode: boolean, before: boolean): CheckOptions['versions'] => {
  if (withNode && existsSync(OVS_SOCKET)) return checkOwnVersions;
  return before ? () => Promise.resolve([VERSIONS_NOT_CHECKED]) : undefined;
};
