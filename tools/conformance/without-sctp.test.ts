import { expect, it } from 'vitest';
import { withoutSctp } from './without-sctp.ts';

it.each([
  ['func PokeServer(t *testing.T, protocol string) bool {\n\tt.Helper()\n}\n', 'return true'],
  ['func PokeServer(t *testing.T, protocol string) {\n\tprobe()\n}\n', 'return'],
])('%j ends early where the kernel has no SCTP', (helper, end) => {
  const [start = '', rest = ''] = helper.split(/(?<=\{\n)/);
  const log = '\t\tt.Log("not probed: SCTP, which the kernel does not have")\n';
  expect(withoutSctp(`package kubernetes\n\n${helper}`)).toBe(
    `package kubernetes\n\n${start}\tif SkipSCTP && protocol == "sctp" {\n${log}\t\t${end}\n\t}\n${rest}`,
  );
});

it('does not let another helper pass for it', () => {
  expect(() => withoutSctp('func Probe() {\n}\n')).toThrow('has no PokeServer');
});
