import { Construct } from 'constructs';
import { schedules } from '../lib/schedules.ts';
import type { RelayParts } from './relay-function.ts';
import { ScheduledFunction } from './scheduled-function.ts';

/** All scheduled functions. @returns the functions */
export function addSchedules(scope: Construct, relay: RelayParts): ScheduledFunction[] {
  return schedules.map((schedule) => {
    // Directly below the stack, where deployed stacks have the sweep. At another path it would be a second function
    // with the same name, which CloudFormation refuses.
    const place = new Construct(scope, pascalCase(schedule.slug));
    return new ScheduledFunction(place, 'Scheduled', { ...relay, schedule });
  });
}

function pascalCase(slug: string): string {
  return slug.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}
