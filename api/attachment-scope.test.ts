import { expect, it } from 'vitest';
import { mayAttach } from './attachment-scope.ts';

const CLOSED = { crossNamespaceAttachments: false };
const OPEN = { crossNamespaceAttachments: true };

it.each([
  // [NAD's namespace, role, written by hand, pod's namespace] → closed, open
  ['a', 'secondary', false, 'a', true, true],
  ['a', 'secondary', false, 'b', false, true],
  ['a', 'secondary', true, 'a', true, true],
  ['a', 'secondary', true, 'b', false, true],
  ['default', 'secondary', true, 'b', true, true],
  ['default', 'secondary', false, 'b', false, true],
  ['default', 'primary', true, 'b', false, false],
  ['a', 'primary', false, 'a', true, true],
  ['a', 'primary', false, 'b', false, false],
] as const)(
  'a NAD in %s, %s, written by hand %s, is for pods of %s: %s, or %s when all are',
  (namespace, role, isHandmade, pod, closed, open) => {
    const nad = { namespace, role, isHandmade };
    expect([mayAttach(nad, pod, CLOSED), mayAttach(nad, pod, OPEN)]).toEqual([closed, open]);
  },
);
