/** Finds what somebody asks about, and asks the one who knows. Pure. */
import type { NadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import type { NetworkFacts } from '../../cluster-manager/facts/network-facts.ts';
import { networkId } from '../cluster/snapshot.ts';
import { addressShortage } from './address-shortage.ts';
import type { Scene } from './allocations.ts';
import { laterPrimary } from './attachments.ts';
import { nadFindings } from './deletion.ts';
import { makerOf } from './desired.ts';
import { blocked, type Diagnosis, diagnosisOf, type Finding, ok, unreadText } from './finding.ts';
import { confText, idFinding, primaryRefusal } from './nad-findings.ts';
import { whyNetwork } from './network.ts';
import { nodesFindings, readFindings } from './node-findings.ts';
import { absentPod, whyPod } from './pod.ts';
import { whyService } from './service.ts';

export const SUBJECTS = ['pod', 'service', 'network', 'udn', 'cudn'] as const;

export interface Question {
  readonly kind: (typeof SUBJECTS)[number];
  /** `namespace/name`, of a network its name or that of its object. */
  readonly name: string;
}

export const why = ({ kind, name }: Question, scene: Scene): Diagnosis => {
  if (kind === 'pod') {
    const pod = scene.pods.get(name);
    return pod === undefined ? absentPod(name, scene) : whyPod(pod, scene);
  }
  if (kind === 'service') return whyService(name, scene) ?? absent({ kind, name }, scene);
  const facts = findNetwork({ kind, name }, scene);
  if (facts !== undefined) return whyNetwork(facts, scene, () => addressShortage(facts.networkName, scene));
  const nad = kind === 'network' ? findNad(name, scene) : undefined;
  return nad === undefined ? absent({ kind, name }, scene) : whyNad(nad, scene);
};

const findNetwork = ({ kind, name }: Question, { networks }: Scene): NetworkFacts | undefined => {
  const udn = networks.get(networkId('UserDefinedNetwork', name));
  const cudn = networks.get(networkId('ClusterUserDefinedNetwork', name));
  if (kind === 'udn') return udn;
  if (kind === 'cudn') return cudn;
  return [...networks.values()].find(({ networkName }) => networkName === name) ?? udn ?? cudn;
};

const findNad = (name: string, { nads }: Scene): NadFacts | undefined =>
  nads.get(name) ?? [...nads.values()].find(({ conf }) => conf?.name === name);

/** Of a NAD without an object behind it that could be read: written by hand, or of a network that the user may not read. */
export const whyNad = (nad: NadFacts, scene: Scene): Diagnosis => {
  const subject = `NetworkAttachmentDefinition ${nad.key}`;
  const made = ok('NAD', makerOf(nad));
  if (nad.metadata.deletionTimestamp != null) {
    return diagnosisOf(subject, [made, ...nadFindings(nad, scene)], 'is about to be removed', 'is not deleted yet');
  }
  return diagnosisOf(subject, [made, ...definitionFindings(nad, scene)], 'is ready', 'is not ready');
};

const definitionFindings = (nad: NadFacts, scene: Scene): readonly Finding[] => {
  const { conf, metadata } = nad;
  if (conf === undefined) {
    const found = nad.confError === undefined ? 'it uses another CNI plugin' : `it is invalid: ${confText(nad)}`;
    return [blocked('configuration', 'nad-invalid', found, 'fix spec.config')];
  }
  const namespace = scene.namespaces.get(metadata.namespace);
  const refusal =
    conf.role !== 'primary' || namespace === undefined
      ? undefined
      : (primaryRefusal(namespace, nad.key, nad, scene) ?? laterPrimary(nad, scene));
  const subnets = conf.topology === 'layer3' ? nodesFindings(conf.name, undefined, scene) : [];
  return [
    ok('configuration', [conf.topology, conf.role, ...conf.subnets.map(({ cidr }) => cidr)].join(', ')),
    ...(refusal === undefined ? [] : [refusal]),
    idFinding(nad, scene),
    ...subnets,
    ...readFindings(nad, scene),
  ];
};

const RESOURCES = {
  pod: ['pods'],
  service: ['services'],
  udn: ['userdefinednetworks'],
  cudn: ['clusteruserdefinednetworks'],
  network: ['userdefinednetworks', 'clusteruserdefinednetworks', 'network-attachment-definitions'],
} as const;

const absent = ({ kind, name }: Question, scene: Scene): Diagnosis => {
  const resources: readonly string[] = RESOURCES[kind];
  const hidden = scene.unread.filter(({ resource }) => resources.includes(resource)).map(unreadText);
  const found = [`no object has that name`, ...hidden].join('; ');
  const list = kind === 'service' ? 'services -A' : 'networks --cluster -A';
  const finding = blocked('object', 'not-found', found, `list the names: udnctl ${list}`);
  return diagnosisOf(`${kind} ${name}`, [finding], '', 'cannot be inspected');
};
