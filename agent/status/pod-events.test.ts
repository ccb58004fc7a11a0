import { expect, it } from 'vitest';
import type { EventInput } from '../../kube/events/types.ts';
import { podEvents } from './pod-events.ts';

it.each([
  ['ErrorAllocatingPod', 'Warning'],
  ['ErrorAttachingPod', 'Warning'],
  // What has been put right is no fault.
  ['AnnotationRepaired', 'Normal'],
] as const)('%s is a %s', (reason, type) => {
  const events: EventInput[] = [];
  podEvents({ record: (event) => events.push(event) })({ namespace: 'red', name: 'a', uid: 'u' }, reason, 'why');
  expect(events).toMatchObject([{ type, reason, message: 'why', regarding: { kind: 'Pod', uid: 'u' } }]);
});
