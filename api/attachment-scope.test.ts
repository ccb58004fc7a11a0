import { expect, it } from 'vitest';
import { mayAttach } from './attachment-scope.ts';

const CLOSED = { crossNamespaceAttachments: false };
const OPEN = { crossNamespaceAttachments: true };

it.each([
  // [NAD's namespace, role, rendered, pod's namespace] → closed, open
  ['a', 'secondary', true, 'a', true, true],
  ['a', 'secondary', true, 'b', false, true],
  ['a', 'secondary', false, 'a', true, true],
  ['a', 'secondary', false, 'b', false, true],
  ['default', 'secondary', false, 'b', true, true],
  ['default', 'secondary', true, 'b', false, true],
  ['default', 'primary', false, 'b', false, false],
  ['a', 'primary', true, 'a', true, true],
  ['a', 'primary', true, 'b', false, false],
] as const)(
  'a NAD in %s, %s, rendered %s, is for pods of %s: %s, or %s when all are',
  (namespace, role, isRendered, pod, closed, open) => {
    const nad = { namespace, role, isRendered };
    expect([mayAttach(nad, pod, CLOSED), mayAttach(nad, pod, OPEN)]).toEqual([closed, open]);
  },
);
