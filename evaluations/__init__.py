"""Long measurements on people, designs and browsers."""
