import { Construct } from 'constructs';
import { schedules } from '../lib/schedules.ts';
import type { RelayParts } from './relay-function.ts';
import { ScheduledFunction } from './scheduled-function.ts';

/** Adds all scheduled functions, and returns them. */
export function addSchedules(scope: Construct, relay: RelayParts): ScheduledFunction[] {
  return schedules.map((schedule) => {
    // Directly below the stack, as in deployed stacks. At another path, the sweep would be a second function with the
    // same name, which CloudFormation refuses.
    const place = new Construct(scope, pascalCase(schedule.slug));
    return new ScheduledFunction(place, 'Scheduled', { ...relay, schedule });
  });
}

function pascalCase(slug: string): string {
  return slug.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
}
