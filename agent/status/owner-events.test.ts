import { expect, it } from 'vitest';
import { FactStore } from '../model/fact-store.ts';
import { emitOwnerEvent } from './owner-events.ts';

const emitted = (object: string, reason: string): unknown[] => {
  const events: unknown[] = [];
  const emit = (...event: unknown[]): void => void events.push(event);
  emitOwnerEvent(
    { emitPodEvent: emit, emitServiceEvent: emit, emitNodeEvent: emit },
    new FactStore(),
  )(...([object, reason, 'because'] as const));
  return events;
};

const RED = { namespace: 'red', name: 'a', uid: undefined };

/** Each reason that a feature gives to a diagnostic. */
it.each([
  ['Pod/red/a', 'ErrorUpdatingResource', RED],
  ['Pod/red/a', 'ErrorAllocatingPod', RED],
  ['Pod/red/a', 'HostPortNotOpen', RED],
  ['Pod/red/a', 'MachineElsewhere', RED],
  ['Pod/red/a', 'RequestIgnored', RED],
  ['Service/red/a', 'ExternalAddressInUse', RED],
  ['Service/red/a', 'ExternalAddressNotAllowed', RED],
  ['Service/red/a', 'EndpointNotAllowed', RED],
  ['Node/n1', 'NodeIdentityInUse', 'n1'],
  ['Node/n1', 'MTUTooLarge', 'n1'],
])('emits of %s the event %s', (object, reason, owner) => {
  expect(emitted(object, reason)).toEqual([[owner, reason, 'because']]);
});

it('emits nothing of other objects', () => {
  expect(emitted('Network/red_net', 'MTUTooLarge')).toEqual([]);
});
