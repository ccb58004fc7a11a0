/** Three networks with the namespaces and pods of Kubernetes' cases in each, where all of a case is played at once. */
import { isIPv6 } from 'node:net';
import { parseMaskedCidr } from '../../../../net/cidr.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { CASE_NAMESPACES, CASE_PORTS, type CaseStep, type Place } from '../../../oracles/policies/case.ts';
import type { Expected } from '../../../oracles/policies/expected.ts';
import { expectedOf } from '../../../oracles/policies/table.ts';
import type { Policy, PolicyProtocol } from '../../../oracles/policies/types.ts';
import {
  CASE_CONTAINER_PORTS,
  CASE_POD_KEYS,
  caseWorld,
  namespaceLabels,
  podLabels,
} from '../../../oracles/policies/world.ts';
import { readPods } from '../../../oracles/reachability/measure.ts';
import { applyAndWait } from '../cluster/cluster.ts';
import { clusterLayer2, clusterNetwork, namespace, plainNamespace } from '../cluster/manifests.ts';
import { addressesOf } from '../packets/packets.ts';
import { policyManifest, servingPod } from './manifests.ts';

/** The first two have the same addresses. */
export const STAGES = ['routed', 'switched', 'plain'] as const;
export type Stage = (typeof STAGES)[number];

const NODES = ['node-1', 'node-2'] as const;

const namespaceOf = (stage: Stage, name: string): string => `${stage}-${name}`;
const keyOn = (stage: Stage, key: string): string => `${stage}-${key}`;

const namespaceManifest = (stage: Stage, name: string, step?: CaseStep): ManifestObject => {
  const labels = namespaceLabels(name, step);
  if (stage !== 'plain') return namespace(namespaceOf(stage, name), { team: stage, ...labels });
  const { metadata, ...rest } = plainNamespace(namespaceOf(stage, name));
  return { ...rest, metadata: { ...metadata, labels } };
};

/** On both nodes, so that each namespace has pods on either. */
const podManifest = (stage: Stage, key: string, step?: CaseStep): ManifestObject => {
  const [inNamespace = '', name = ''] = key.split('/');
  const node = NODES[CASE_POD_KEYS.indexOf(key) % NODES.length] ?? NODES[0];
  return servingPod(namespaceOf(stage, inNamespace), name, node, {
    labels: podLabels(key, step),
    ports: CASE_PORTS,
    named: CASE_CONTAINER_PORTS,
  });
};

export class PolicyStages {
  readonly #sandbox: Sandbox;
  readonly #addresses: ReadonlyMap<string, readonly string[]>;
  readonly #protocols: readonly PolicyProtocol[];
  #before: CaseStep = { policies: [], expected: {} };
  #policies: readonly Policy[] = [];

  private constructor(sandbox: Sandbox, addresses: ReadonlyMap<string, readonly string[]>, hasSctp: boolean) {
    this.#sandbox = sandbox;
    this.#addresses = addresses;
    this.#protocols = hasSctp ? ['TCP', 'UDP', 'SCTP'] : ['TCP', 'UDP'];
  }

  static async start(sandbox: Sandbox): Promise<PolicyStages> {
    await applyAndWait(sandbox, [
      ...STAGES.flatMap((stage) => CASE_NAMESPACES.map((name) => namespaceManifest(stage, name))),
      clusterNetwork('routed', 'routed', ['10.90.0.0/16/24', 'fd00:90::/48/64']),
      clusterLayer2('switched', 'switched', ['10.90.0.0/16', 'fd00:90::/64']),
      ...STAGES.flatMap((stage) => CASE_POD_KEYS.map((key) => podManifest(stage, key))),
    ]);
    const pods = await readPods(await sandbox.objects());
    const { kernel } = await sandbox.status();
    return new PolicyStages(sandbox, new Map(pods.map((one) => [one.key, addressesOf(one)])), kernel.sctp);
  }

  steps(title: (place: Place) => readonly CaseStep[]): readonly (readonly [Stage, CaseStep])[][] {
    const byStage = STAGES.map((stage) => title(this.#place(stage)).map((step) => [stage, step] as const));
    return (byStage[0] ?? []).map((_, index) => byStage.flatMap((steps) => steps.slice(index, index + 1)));
  }

  /** The same step on all networks. @returns what is to be seen afterwards */
  async play(steps: readonly (readonly [Stage, CaseStep])[]): Promise<Expected[]> {
    const objects = await this.#sandbox.objects();
    const policies = steps.flatMap(([, step]) => step.policies);
    const labelled = steps.flatMap(([stage, step]) => [
      ...changedKeys(this.#before.namespaceLabels, step.namespaceLabels).map((name) =>
        namespaceManifest(stage, name, step),
      ),
      ...changedKeys(this.#before.podLabels, step.podLabels).map((key) => podManifest(stage, key, step)),
    ]);
    const kept = new Set(policies.map(({ namespace: inNamespace, name }) => `${inNamespace}/${name}`));
    const gone = this.#policies.filter(({ namespace: inNamespace, name }) => !kept.has(`${inNamespace}/${name}`));
    await objects.apply([...policies.map(policyManifest), ...labelled]);
    await objects.delete(gone.map(policyManifest), { timeoutSeconds: 30 });
    this.#policies = policies;
    this.#before = steps[0]?.[1] ?? this.#before;
    return steps.flatMap(([stage, step]) => this.#expected(stage, step));
  }

  /** As at first. */
  async clear(): Promise<Expected[]> {
    return this.play(STAGES.map((stage) => [stage, { policies: [], expected: {} }]));
  }

  #expected(stage: Stage, step: CaseStep): Expected[] {
    const addresses = (key: string): readonly string[] => this.#addressesOf(stage, key);
    const world = caseWorld(step, { place: this.#place(stage), network: stage, addresses });
    return expectedOf(world, this.#protocols, CASE_PORTS);
  }

  #addressesOf(stage: Stage, key: string): readonly string[] {
    const found = this.#addresses.get(keyOn(stage, key)) ?? [];
    if (found.length !== 2) throw new Error(`${keyOn(stage, key)} has not two addresses: ${found.join(' ')}`);
    return found;
  }

  #place(stage: Stage): Place {
    return {
      namespace: (name) => namespaceOf(stage, name),
      blocks: (key, size) =>
        this.#addressesOf(stage, key).map((address) => {
          if (size === 'address') return `${address}/${isIPv6(address) ? 128 : 32}`;
          return parseMaskedCidr(`${address}/4`);
        }),
    };
  }
}

/** Whose labels are others than before. */
const changedKeys = (
  before: Readonly<Record<string, unknown>> = {},
  after: Readonly<Record<string, unknown>> = {},
): string[] => [...new Set([...Object.keys(before), ...Object.keys(after)])];
