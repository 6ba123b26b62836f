import { Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';
import { type Stage, StageError } from './stage.ts';

/** The most addresses of one notification. https://docs.aws.amazon.com/general/latest/gr/billing.html */
const MOST_ADDRESSES = 10;

export interface CostBudgetProps {
  stage: Stage;
  monthlyUsd: number;
  emails: readonly string[];
}

/**
 * What the account may cost in a month. It covers the whole account: AWS can filter costs by stage only after its tags
 * are activated for billing. Until then, a budget for the stage would stay at 0 and never alert.
 */
export class CostBudget extends Construct {
  /** @throws {StageError} if there is no address, or more than AWS accepts */
  constructor(scope: Construct, id: string, { stage, monthlyUsd, emails }: CostBudgetProps) {
    super(scope, id);
    if (emails.length === 0 || emails.length > MOST_ADDRESSES) {
      throw new StageError(
        `deployment.stages.${stage.name}.monthlyBudgetUsd needs 1 to ${MOST_ADDRESSES} addresses in deployment.alarms.emails, found ${emails.length}`,
      );
    }
    const tell = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: { notificationType, comparisonOperator: 'GREATER_THAN', threshold, thresholdType: 'PERCENTAGE' },
      subscribers: emails.map((address) => ({ subscriptionType: 'EMAIL', address })),
    });
    new CfnBudget(this, 'Budget', {
      budget: {
        // Names are unique in the account, not in the region.
        budgetName: `${Stack.of(this).stackName}-${Stack.of(this).region}`,
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: monthlyUsd, unit: 'USD' },
      },
      notificationsWithSubscribers: [tell('ACTUAL', 80), tell('FORECASTED', 100)],
    });
  }
}
