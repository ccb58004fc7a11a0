/**
 * Which of two owners has its way with one thing: what every network needs, then what one network needs, then Services and
 * pods. So nothing that a tenant names takes the place of infrastructure, whatever features are called.
 */
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import { podOfId } from '../model/facts.ts';
import type { Feature } from '../model/fragment.ts';
import { firewallOf } from '../model/policies/ids.ts';
import { FEATURES } from './index.ts';

/** What the names of those begin with of whom nothing is kept but their elements (`DesiredRows.replaceMembers`). */
export const BARE_OWNERS = `${FEATURES.find((feature) => 'members' in feature)?.name ?? ''}:`;

/** Negative: `a` has its way. Total, and zero only for one owner. */
export const compareOwners = (a: string, b: string): number => rankOf(a) - rankOf(b) || (a < b ? -1 : a > b ? 1 : 0);

/** Rules of one firewall are written together: until all are there, one that allows could be where one that denies was. */
export const groupOfOwner = (owner: string): string | undefined => {
  const { kind, subject } = parsed(owner);
  return kind === 'adminRule' ? firewallOf(subject) : undefined;
};

/** What an owner is about, as messages name objects: `Pod/ns/name`. */
export const objectOfOwner = (owner: string): string => {
  const { kind, subject } = parsed(owner);
  switch (kind) {
    case undefined:
    case 'zone':
      return owner;
    case 'node':
      return `Node/${subject}`;
    case 'network':
      return `Network/${subject}`;
    case 'networkNode':
      return `Network/${networkOf(subject)}`;
    case 'pod':
      return `Pod/${subject}`;
    case 'service':
      return `Service/${subject}`;
    case 'policyRule':
    case 'adminRule':
    case 'subjectSet':
    case 'peerSet':
    case 'domainSet':
    case 'denyGroup':
      return owner;
    case 'policyPeer':
      return `Pod/${podOfId(subject)}`;
  }
};

const rankOf = (owner: string): number => {
  const { kind, subject } = parsed(owner);
  switch (kind) {
    // Of no feature: our own programs.
    case undefined:
    case 'zone':
    case 'node':
      return 0;
    case 'network':
      return subject === DEFAULT_NETWORK_NAME ? 0 : 1;
    case 'networkNode':
      return networkOf(subject) === DEFAULT_NETWORK_NAME ? 0 : 1;
    case 'service':
      return 2;
    // What drops comes before what is allowed.
    case 'denyGroup':
    case 'adminRule':
    case 'subjectSet':
      return 1;
    case 'policyRule':
    case 'peerSet':
    case 'domainSet':
    case 'policyPeer':
      return 4;
    case 'pod':
      return 3;
  }
};

const parsed = (owner: string): { kind: Feature['over'] | undefined; subject: string } => {
  const colon = owner.indexOf(':');
  return { kind: KINDS.get(owner.slice(0, colon)), subject: owner.slice(colon + 1) };
};

/** A node's name has no slash, a network's may. */
const networkOf = (subject: string): string => subject.slice(subject.indexOf('/') + 1);

const KINDS: ReadonlyMap<string, Feature['over']> = new Map(FEATURES.map(({ name, over }) => [name, over]));
