/** Which subjects there are, and how they follow from the facts. */
import type { FactStore } from '../model/fact-store.ts';
import type { ReadKind } from '../model/facts.ts';
import type { SubjectKind, Subjects } from '../model/fragment.ts';

export type AnySubject = {
  [Kind in SubjectKind]: { readonly kind: Kind; readonly value: Subjects[Kind] };
}[SubjectKind];

/** Unique for its kind. A network's name may hold a slash, a node's and a pod's first part may not. */
export const subjectKey = ({ kind, value }: AnySubject): string => {
  switch (kind) {
    case 'zone':
      return '';
    case 'node':
      return value.node;
    case 'network':
      return value.network;
    case 'networkNode':
      return `${value.node}/${value.network}`;
    case 'pod':
      return value.pod;
    case 'service':
      return value.service;
    case 'policyRule':
      return value.rule;
    case 'adminRule':
      return value.rule;
    case 'subjectSet':
      return value.set;
    case 'peerSet':
      return value.set;
    case 'domainSet':
      return value.set;
    case 'denyGroup':
      return value.group;
  }
};

/** All subjects of a kind at this moment. */
export const subjectsOf = (kind: SubjectKind, facts: FactStore): AnySubject[] => {
  switch (kind) {
    case 'zone':
      return [{ kind, value: {} }];
    case 'node':
      return [...facts.ids('node')].map((node) => ({ kind, value: { node } }));
    case 'network':
      return [...facts.ids('network')].map((network) => ({ kind, value: { network } }));
    case 'networkNode':
      return [...facts.ids('network')].flatMap((network) => nodesOf(network, facts));
    case 'pod':
      return [...facts.ids('pod')].map((pod) => ({ kind, value: { pod } }));
    case 'service':
      return [...facts.ids('service')].map((service) => ({ kind, value: { service } }));
    case 'policyRule':
      return [...facts.ids('policyRule')].map((rule) => ({ kind, value: { rule } }));
    case 'adminRule':
      return [...facts.ids('adminRule')].map((rule) => ({ kind, value: { rule } }));
    case 'subjectSet':
      return [...facts.ids('subjectSet')].map((set) => ({ kind, value: { set } }));
    case 'peerSet':
      return [...facts.ids('peerSet')].map((set) => ({ kind, value: { set } }));
    case 'domainSet':
      return [...facts.ids('domainSet')].map((set) => ({ kind, value: { set } }));
    case 'denyGroup':
      return [...facts.ids('denyGroup')].map((group) => ({ kind, value: { group } }));
  }
};

/** The subjects that come, or go, with a fact. */
export const subjectsWith = (fact: ReadKind, id: string, facts: FactStore): AnySubject[] => {
  switch (fact) {
    case 'node':
      return [
        { kind: 'node', value: { node: id } },
        ...[...facts.ids('network')].map(
          (network): AnySubject => ({ kind: 'networkNode', value: { network, node: id } }),
        ),
      ];
    case 'network':
      return [{ kind: 'network', value: { network: id } }, ...nodesOf(id, facts)];
    case 'pod':
      return [{ kind: 'pod', value: { pod: id } }];
    case 'service':
      return [{ kind: 'service', value: { service: id } }];
    case 'policyRule':
      return [{ kind: 'policyRule', value: { rule: id } }];
    case 'adminRule':
      return [{ kind: 'adminRule', value: { rule: id } }];
    case 'subjectSet':
      return [{ kind: 'subjectSet', value: { set: id } }];
    case 'peerSet':
      return [{ kind: 'peerSet', value: { set: id } }];
    case 'domainSet':
      return [{ kind: 'domainSet', value: { set: id } }];
    case 'denyGroup':
      return [{ kind: 'denyGroup', value: { group: id } }];
    case 'domainAddresses':
    case 'nodeSubnets':
    case 'networkPrefix':
    case 'refusedNode':
    case 'tunnelMtu':
    case 'nad':
    case 'nadProblem':
    case 'nadBeside':
    case 'handmadeNad':
    case 'foreignNad':
    case 'primaryNad':
    case 'namespace':
    case 'gateway':
    case 'gatewayMode':
    case 'hostAddresses':
    case 'encapIps':
    case 'networkInUse':
    case 'networkShares':
    case 'physicalBridge':
    case 'neighbours':
    case 'kubeletCgroup':
    case 'podCgroup':
    case 'serviceSlices':
    case 'externalAddress':
    case 'hostPortClaims':
    case 'nodeAddress':
    case 'lockedAddress':
    case 'podPolicy':
    case 'decidedPod':
    case 'policiesFollowed':
    case 'multiPolicies':
      return [];
  }
};

const nodesOf = (network: string, facts: FactStore): AnySubject[] =>
  [...facts.ids('node')].map((node) => ({ kind: 'networkNode', value: { network, node } }));
