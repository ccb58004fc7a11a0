/** Whether a network has what it needs in one namespace: the namespace itself, its NAD, its id. */
import type { Condition } from '../../api/condition.ts';
import { describeFinding } from '../../api/errors.ts';
import { PRIMARY_NETWORK_LABEL } from '../../api/names.ts';
import { isPrimaryLabelled } from '../../api/primary-network.ts';
import { isRefusal } from '../../cluster-manager/allocation/network-messages.ts';
import { PER_NAMESPACE_FLAG } from '../../cluster-manager/allocation/network-room.ts';
import type { NadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import type { NamespaceFacts } from '../../cluster-manager/facts/namespace-facts.ts';
import type { NetworkFacts } from '../../cluster-manager/facts/network-facts.ts';
import type { Scene } from './allocations.ts';
import { isOwnedBy, isPrimary, makerOf, nadKeyIn } from './desired.ts';
import { blocked, type Finding, named, ok, unknown, unreadOf, unreadText } from './finding.ts';
import { waitsForManager } from './manager.ts';

/** Up to the first thing that blocks. */
export const namespaceFindings = (facts: NetworkFacts, name: string, scene: Scene): readonly Finding[] => {
  const what = `namespace ${name}`;
  const namespace = scene.namespaces.get(name);
  if (namespace === undefined) {
    const hidden = unreadOf(scene, 'namespaces');
    if (hidden === undefined)
      return [blocked(what, 'namespace-missing', `namespace ${name} does not exist`, 'create it')];
    return [unknown(what, unreadText(hidden)), ...nadFindings(facts, name, scene)];
  }
  if (namespace.isTerminating) {
    const found = `namespace ${name} is being deleted: no new objects can be created in it`;
    // For a network of the cluster it is one namespace less.
    if (facts.kind === 'ClusterUserDefinedNetwork') return [ok(what, found)];
    return [blocked(what, 'namespace-terminating', found, `create the network in another namespace`)];
  }
  const foreign = foreignFinding(facts, name, scene);
  if (foreign !== undefined) return [foreign];
  const own = scene.nads.get(nadKeyIn(facts, name));
  const refusal = isPrimary(facts) ? primaryRefusal(namespace, nadKeyIn(facts, name), own, scene) : undefined;
  return refusal === undefined ? [ok(what, labelText(namespace)), ...nadFindings(facts, name, scene)] : [refusal];
};

const labelText = ({ labels }: NamespaceFacts): string =>
  isPrimaryLabelled(labels) ? `has the label ${PRIMARY_NETWORK_LABEL}` : 'exists';

const foreignFinding = (facts: NetworkFacts, namespace: string, scene: Scene): Finding | undefined => {
  const nad = scene.nads.get(nadKeyIn(facts, namespace));
  if (nad === undefined || isOwnedBy(nad, facts)) return undefined;
  const found = `NetworkAttachmentDefinition ${nad.key} has its name and belongs to another owner: it is ${makerOf(nad)}`;
  return blocked(
    `NAD ${nad.key}`,
    'nad-foreign',
    found,
    `delete that NetworkAttachmentDefinition, or rename the network`,
  );
};

/** Who was there first keeps its place as the primary network. @param own the network's NAD, when it is there */
export const primaryRefusal = (
  { name, labels }: NamespaceFacts,
  key: string,
  own: NadFacts | undefined,
  scene: Scene,
): Finding | undefined => {
  const what = `namespace ${name}`;
  if (!isPrimaryLabelled(labels)) {
    return blocked(
      what,
      'label-missing',
      `namespace ${name} has no label ${PRIMARY_NETWORK_LABEL}, which a primary network needs`,
      `recreate the namespace with the label, which can only be set at creation`,
    );
  }
  if (own !== undefined) return undefined;
  const others = scene.nadsIn(name).filter((nad) => nad.key !== key);
  const unreadable = others.find(({ confError }) => confError?.code === 'ERR_API_SYNTAX');
  if (unreadable !== undefined) {
    const found = `the configuration of NetworkAttachmentDefinition ${unreadable.key} cannot be read, so it may be a primary network`;
    return blocked(what, 'nad-invalid', found, `fix or delete NetworkAttachmentDefinition ${unreadable.key}`);
  }
  const primary = others.find(({ conf }) => conf?.role === 'primary');
  return primary === undefined ? undefined : takenFinding(what, name, primary);
};

export const takenFinding = (what: string, namespace: string, primary: NadFacts): Finding =>
  blocked(
    what,
    'primary-taken',
    `namespace ${namespace} already has a primary network: NetworkAttachmentDefinition ${primary.key}, ${makerOf(primary)}`,
    `a namespace can have only one primary network: delete one of them, or change the labels that select the namespace`,
  );

const nadFindings = (facts: NetworkFacts, namespace: string, scene: Scene): readonly Finding[] => {
  const key = nadKeyIn(facts, namespace);
  const what = `NAD ${key}`;
  const hidden = unreadOf(scene, 'network-attachment-definitions');
  if (hidden !== undefined) return [unknown(what, unreadText(hidden))];
  if (scene.namespace !== undefined && scene.namespace !== namespace) return [];
  const nad = scene.nads.get(key);
  if (nad === undefined) {
    const refusal = facts.conditions.find(({ type, status }) => type === 'NetworkCreated' && status === 'False');
    if (refusal !== undefined) return [conditionFinding(refusal)];
    return [waitsForManager(scene, what, 'nad-missing', `NetworkAttachmentDefinition ${key} has not been created yet`)];
  }
  if (nad.metadata.deletionTimestamp != null) return [goingFinding(nad, scene)];
  if (nad.conf === undefined) {
    const found = `NetworkAttachmentDefinition ${key} was edited and no longer belongs to ovn-udn: ${confText(nad)}`;
    return [waitsForManager(scene, what, 'nad-invalid', found)];
  }
  return [ok(what, 'exists'), idFinding(nad, scene)];
};

/** What only the cluster manager can know. */
export const conditionFinding = ({ type, message }: Pick<Condition, 'type' | 'message'>): Finding => {
  const next = 'fix what it names; kubectl describe shows its events';
  return blocked('conditions', 'condition', `its condition ${type}: ${message}`, next);
};

export const confText = ({ confError }: NadFacts): string =>
  confError === undefined ? 'it uses another CNI plugin' : describeFinding(confError);

/** Of a NAD that somebody deleted: it stays as long as pods use it, and is made again after that. */
export const goingFinding = (nad: NadFacts, scene: Scene): Finding => {
  const pods = scene.podsUsing(nad.key).map(({ key }) => key);
  const found = `NetworkAttachmentDefinition ${nad.key} is being deleted`;
  if (pods.length === 0) return waitsForManager(scene, `NAD ${nad.key}`, 'nad-being-deleted', found);
  return blocked(
    `NAD ${nad.key}`,
    'nad-being-deleted',
    `${found} and waits for pods that use it: ${named(pods)}`,
    'delete the pods, or wait for them to end',
  );
};

export const idFinding = (nad: NadFacts, scene: Scene): Finding => {
  const what = `network id of ${nad.key}`;
  const { keys, keysError, annotatedNetwork, conf } = nad;
  if (keysError !== undefined) {
    const found = `NetworkAttachmentDefinition ${nad.key}: ${describeFinding(keysError)}`;
    return waitsForManager(scene, what, 'annotation-unreadable', found);
  }
  if (keys !== undefined && (annotatedNetwork === undefined || annotatedNetwork === conf?.name)) {
    return ok(what, String(keys.id));
  }
  // What the cluster manager says comes first: how many networks it allows is its own setting, and cannot be guessed here.
  const [refusal] = [
    ...messagesAbout(nad, scene),
    ...eventsAbout(`NetworkAttachmentDefinition/${nad.key}`, scene),
    ...scene.allocations().nadProblems(nad.key),
  ];
  if (refusal === undefined) {
    return waitsForManager(scene, what, 'id-missing', `NetworkAttachmentDefinition ${nad.key} has no network id`);
  }
  const found = `NetworkAttachmentDefinition ${nad.key} has no network id: ${refusal}`;
  return blocked(what, 'id-missing', found, nextStep(refusal));
};

const nextStep = (refusal: string): string => {
  if (refusal.includes(PER_NAMESPACE_FLAG)) return NEXT_TURN_OF_NAMESPACE;
  return refusal.includes('--max-networks') ? NEXT_TURN : NEXT_REFUSED;
};

const NEXT_REFUSED = 'change the rejected value, or delete the object that it conflicts with';
const NEXT_TURN = 'it gets an id when another network is deleted; or raise --max-networks of the cluster manager';
const NEXT_TURN_OF_NAMESPACE = `it gets an id when another network of the namespace is deleted; or raise ${PER_NAMESPACE_FLAG} of the cluster manager`;

/** Why its network has no id, in the condition of the object that it is rendered from. That stays when events are gone. */
const messagesAbout = (nad: NadFacts, { networks }: Pick<Scene, 'networks'>): readonly string[] => {
  const name = nad.conf?.name;
  const source = [...networks.values()].find((facts) => isOwnedBy(nad, facts));
  if (name === undefined || source === undefined) return [];
  return source.conditions.flatMap(({ type, status, message }) =>
    type === 'NetworkAllocationSucceeded' && status === 'False' && isRefusal(name, message) ? [message] : [],
  );
};

/** Warnings, the latest first. @param uid of the object: one of its name may have been there before it */
export const eventsAbout = (object: string, { events }: Pick<Scene, 'events'>, uid?: string): readonly string[] =>
  events
    .filter(({ about, isWarning }) => isWarning && about === object)
    .filter(({ uid: of }) => uid === undefined || of === undefined || of === uid)
    .sort((a, b) => b.at - a.at)
    .map(({ message }) => message);
