import { expect, it } from 'vitest';
import { findByName, type KnownResource } from './resource-finder.ts';

const resource = (group: string, plural: string, kind: string, shortNames: string[] = []): KnownResource => ({
  ...{ group, version: 'v1', plural, kind, namespaced: true, shortNames },
  singular: kind.toLowerCase(),
});
const known = [
  resource('', 'pods', 'Pod', ['po']),
  resource('', 'events', 'Event', ['ev']),
  resource('events.k8s.io', 'events', 'Event', ['ev']),
  resource('k8s.ovn.org', 'userdefinednetworks', 'UserDefinedNetwork', ['udn']),
];

it.each(['pod', 'pods', 'Pod', 'po', 'PODS'])('%s are pods', (text) =>
  expect(findByName(known, text).plural).toBe('pods'),
);

it.each([
  ['events', ''],
  ['events.events.k8s.io', 'events.k8s.io'],
  ['udn', 'k8s.ovn.org'],
  ['userdefinednetwork.k8s.ovn.org', 'k8s.ovn.org'],
])('%s is of group "%s"', (text, group) => expect(findByName(known, text).group).toBe(group));

it.each(['', 'poods', 'pods.apps'])('"%s" is nothing', (text) => {
  expect(() => findByName(known, text)).toThrow(expect.objectContaining({ code: 'ERR_SANDBOX_NOT_FOUND' }));
});
