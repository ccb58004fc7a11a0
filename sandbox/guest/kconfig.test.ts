import { expect, it } from 'vitest';
import { turnOff } from './kconfig.ts';

/** As kernel/Kconfig.locks has them: one is indented by a tab, one by spaces. */
const LOCKS = `config ARCH_SUPPORTS_ATOMIC_RMW
	bool

config MUTEX_SPIN_ON_OWNER
	def_bool y
	depends on SMP && ARCH_SUPPORTS_ATOMIC_RMW

config RWSEM_SPIN_ON_OWNER
       def_bool y
       depends on SMP && ARCH_SUPPORTS_ATOMIC_RMW

config LOCK_SPIN_ON_OWNER
       def_bool y
       depends on MUTEX_SPIN_ON_OWNER || RWSEM_SPIN_ON_OWNER
`;

it('turns off what is named, and leaves the rest as it is', () => {
  expect(turnOff(LOCKS, [])).toBe(LOCKS);
  const lines = turnOff(LOCKS, ['MUTEX_SPIN_ON_OWNER', 'RWSEM_SPIN_ON_OWNER']).split('\n');
  const changed = LOCKS.split('\n').flatMap((line, i) => (line === lines[i] ? [] : [`${i}:${lines[i]}`]));
  expect(changed).toEqual(['4:\tdef_bool n', '8:       def_bool n']);
  expect(lines).toHaveLength(LOCKS.split('\n').length);
});

it.each([
  { name: 'a symbol that is not there', kconfig: LOCKS, symbol: 'SPIN_ON_OWNER' },
  { name: 'one without a value of its own', kconfig: LOCKS, symbol: 'ARCH_SUPPORTS_ATOMIC_RMW' },
  {
    name: 'one that is off already',
    kconfig: LOCKS.replaceAll('def_bool y', 'def_bool n'),
    symbol: 'LOCK_SPIN_ON_OWNER',
  },
  {
    name: 'one with a condition',
    kconfig: LOCKS.replaceAll('def_bool y', 'def_bool y if X'),
    symbol: 'LOCK_SPIN_ON_OWNER',
  },
  { name: 'one that is there twice', kconfig: LOCKS + LOCKS, symbol: 'MUTEX_SPIN_ON_OWNER' },
])('refuses $name', ({ kconfig, symbol }) => {
  expect(() => turnOff(kconfig, [symbol])).toThrow(
    expect.objectContaining({ code: 'ERR_SANDBOX_MACHINE', message: expect.stringContaining(symbol) }),
  );
});
